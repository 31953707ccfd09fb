package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

func TestDead_OnlyAKilledProcessOfThisMachine(t *testing.T) {
	t.Parallel()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Skipf("no program to run: %v", err)
	}
	if !strings.Contains(machine(), ":") {
		t.Skip("process numbers cannot be told apart on this system")
	}
	tests := []struct {
		name, owner string
		want        bool
	}{
		{"this process", owner(), false},
		{"a process that ended", fmt.Sprintf("%s/%d/aabb", machine(), gone.Process.Pid), true},
		{"the first process", machine() + "/1/aabb", false},
		{"another machine", fmt.Sprintf("elsewhere:12345678:4026531836/%d/aabb", gone.Process.Pid), false},
		{"an owner in another form", "elsewhere", false},
		{"nobody", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := dead(tt.owner); got != tt.want {
				t.Errorf("dead(%q) = %v, want %v", tt.owner, got, tt.want)
			}
		})
	}
}
