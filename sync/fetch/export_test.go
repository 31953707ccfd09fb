package fetch

import (
	"context"
	"net"
)

// DialWith lets tests replace the network, guard included.
func (c *Client) DialWith(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	c.dialWith(dial)
}
