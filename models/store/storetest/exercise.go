package storetest

import (
	"testing"

	"github.com/sitemapd/sitemapd/models/store"
)

// Exercise runs the whole suite. open makes a new empty database and gives a function that opens handles of it, as
// several programs on one database would have them.
func Exercise(t *testing.T, open func(t testing.TB) func() *store.Store) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, open func() *store.Store)
	}{
		{"Sites_AreFoundByWhatPeopleCallThem", sites},
		{"Sites_KeepWhatOperatorsChose", siteSettings},
		{"Sites_AreChangedByTwoAtOnce", changedSites},
		{"DueSites_ComeByTimeAndByTriggers", dueSites},
		{"Sites_ThatDoNotFitAreRefused", refusedSites},
		{"Agenda_TellsWhatWaits", agenda},
		{"TakeRun_TakesTheHostAndBeginsAtOnce", takeRun},
		{"Lease_LostIsToldBeforeADuplicateKey", lostLease},
		{"Purge_TakesEverythingOfOneSite", purge},
		{"Leases_HaveOneOwner", leases},
		{"Leases_TakenAtOnceHaveOneWinner", leaseRace},
		{"Fence_RefusesEveryWriteAfterTheLeaseWasLost", fence},
		{"Runs_AreInvisibleUntilTheyFinish", visibility},
		{"Runs_ThatDieAreSwept", sweep},
		{"Runs_ThatFailAreSwept", failure},
		{"Runs_AreListedAndFoundByTime", runs},
		{"Finish_IsForTheRunUnderWay", finish},
		{"Stage_MayBeRepeated", repeated},
		{"Stage_TakesRowsOfItsOwnRunBack", restaged},
		{"Stage_WorksOnSeveralDocumentsAtOnce", concurrent},
		{"Stage_KeepsLargeDocumentsAndRowsWhole", large},
		{"StageDocuments_EqualsOneByOne", together},
		{"Sums_AreForgottenWithTheirRows", summed},
		{"ListingsIn_ReadsRangesAlone", ranged},
		{"Unstage_LeavesTheDocumentAsItWas", unstage},
		{"Documents_KeepEveryVersion", documents},
		{"Listings_AreOrderedAndShared", listings},
		{"Removals_AreSupersededAndSwept", removals},
		{"Removals_AreDecidedByPeopleAtOnce", rulings},
		{"Removals_AreRuledOnAgainAndPagesComeBack", reversals},
		{"Pages_SayWhyTheyGo", reasons},
		{"Pages_AreSeenByRunsThatReadThem", lastSeen},
		{"Runs_SayWhatTheyFound", found},
		{"Runs_ThatSawEverything", lastWalks},
		{"Pages_AreFilteredAndPaged", filters},
		{"Pages_CarryWhatWasDeclared", carried},
		{"Changes_TellWhatHappened", changes},
		{"Changes_TellWhoCameBackUnread", returned},
		{"Changes_TellOfWindows", windows},
		{"Changes_AreFollowedThroughWindows", reentries},
		{"Changes_AreResumedByCursor", cursors},
		{"Changes_AreThoseOfASegment", narrowed},
		{"Pages_AreReadInTurns", within},
		{"Reports_CountWhatIsListed", lastmods},
		{"Reports_CountSections", sections},
		{"Pages_AreSortedByColumns", sorted},
		{"Pages_SortedOnesHaveCursors", sortedCursors},
		{"Changes_AreReadInTurns", changesWithin},
		{"Diff_IsReadInTurns", diffWithin},
		{"Removals_HeldOnesAreReadInParts", heldInParts},
		{"Segments_BelongToASiteOrToAll", segments},
		{"Diffs_CompareTwoMoments", diffs},
		{"Diffs_AreReadBitByBit", largeDiff},
		{"Diffs_TellOfMovesThereAndBack", diffsOfMoves},
		{"Pruning_KeepsWhatRulingsTell", prunedRulings(6)},
		{"Pruning_UpToAFailedRunKeepsWhatRulingsTell", prunedRulings(7)},
		{"Histories_EqualTheModel", histories},
		{"URLs_AreBytes", identity},
		{"Times_ComeBackAsTheyWere", times},
		{"Findings_BelongToVersions", findings},
		{"Findings_AcrossDocumentsAreSets", across},
		{"Listed_IsWhatAllDocumentsSayAtARun", listed},
		{"Triggers_AreKeptAndServedOnce", triggers},
		{"Expectations_AreSuperseded", expectations},
		{"Published_IsASourceOfItsOwn", published},
		{"Published_OfADeadRunIsSwept", publishedSwept},
		{"Access_TokensAccountsKeysAndDeliveries", access},
		{"Events_AreNumberedInTheOrderOfCommits", eventOrder},
		{"Events_OfARunAreStoredOnce", runEvents},
		{"Events_OfRulingsAndExpectations", siteEvents},
		{"Channels_KeepWhatOperatorsChose", channels},
		{"Channels_AreQueuesWithOneWorker", queues},
		{"Alerts_OpenOnceAndResolve", alerts},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(t, open(t))
		})
	}
}
