<?php
/**
 * The table of deliveries: waiting, sent and given up.
 *
 * @package Sitemapd
 */

defined( 'ABSPATH' ) || exit;

/**
 * What a request changed is written here before anything is sent, and stays until the daemon has answered 2xx.
 *
 * A row is one message (one or more events). `next_at` is both the time of the next attempt and the lease: whoever
 * moves it forward owns the attempt, so two requests never send one row at the same time. All times are UTC.
 */
class Sitemapd_Outbox {

	const SCHEMA = '1';
	const KEEP   = 50;
	const LEASE  = 60;

	/** Seconds after which attempt number n is followed by the next; after the last one the row is given up. */
	const RETRY = array( 60, 300, 1800, 7200, 21600, 86400 );

	/** Hooks. The table is made on first use, so a network, a new site and a copied database need no activation. */
	public static function register() {
		add_action( 'init', array( __CLASS__, 'install' ), 1 );
		add_filter( 'wpmu_drop_tables', array( __CLASS__, 'drop_with_site' ), 10, 2 );
		register_deactivation_hook( SITEMAPD_FILE, array( __CLASS__, 'deactivate' ) );
	}

	/** The table's name for the current site. */
	public static function table() {
		global $wpdb;
		return $wpdb->prefix . 'sitemapd_outbox';
	}

	/** Creates the table, the counter and the hourly sweep when they are missing. */
	public static function install() {
		if ( get_option( 'sitemapd_schema' ) === self::SCHEMA ) {
			return;
		}
		global $wpdb;
		require_once ABSPATH . 'wp-admin/includes/upgrade.php';
		$table = self::table();
		dbDelta(
			"CREATE TABLE $table (
				id bigint(20) unsigned NOT NULL AUTO_INCREMENT,
				message_id varchar(64) NOT NULL,
				created_at datetime NOT NULL,
				first_seq bigint(20) unsigned NOT NULL,
				events int(10) unsigned NOT NULL,
				summary varchar(190) NOT NULL DEFAULT '',
				body longtext NOT NULL,
				state varchar(10) NOT NULL DEFAULT 'waiting',
				attempts int(10) unsigned NOT NULL DEFAULT 0,
				next_at datetime NOT NULL,
				last_at datetime DEFAULT NULL,
				last_code int(10) unsigned NOT NULL DEFAULT 0,
				last_ms int(10) unsigned NOT NULL DEFAULT 0,
				last_error varchar(190) NOT NULL DEFAULT '',
				PRIMARY KEY  (id),
				KEY state_next (state,next_at)
			) " . $wpdb->get_charset_collate() . ';'
		);
		add_option( 'sitemapd_seq', '0', '', 'no' );
		if ( ! wp_next_scheduled( 'sitemapd_deliver' ) ) {
			wp_schedule_event( time() + HOUR_IN_SECONDS, 'hourly', 'sitemapd_deliver' );
		}
		update_option( 'sitemapd_schema', self::SCHEMA );
	}

	/** Stops the sweep; what is waiting stays for a later activation, which makes a new sweep. */
	public static function deactivate() {
		wp_unschedule_hook( 'sitemapd_deliver' );
		wp_unschedule_hook( 'sitemapd_retry' );
		delete_option( 'sitemapd_schema' );
	}

	/**
	 * The table goes with its site in a network.
	 *
	 * @param string[] $tables  Tables to drop.
	 * @param int      $blog_id The site's number.
	 */
	public static function drop_with_site( $tables, $blog_id ) {
		global $wpdb;
		$tables[] = $wpdb->get_blog_prefix( $blog_id ) . 'sitemapd_outbox';
		return $tables;
	}

	/**
	 * Takes the next $count numbers of this site's sequence, without gaps, whatever runs at the same time.
	 *
	 * @param int $count How many.
	 * @return int The first of them.
	 */
	public static function reserve( $count ) {
		global $wpdb;
		$last = 0;
		for ( $try = 0; $try < 50; $try++ ) {
			$last = $wpdb->get_var( "SELECT option_value FROM $wpdb->options WHERE option_name = 'sitemapd_seq'" );
			if ( null === $last ) {
				add_option( 'sitemapd_seq', '0', '', 'no' );
				continue;
			}
			// Only the one who still finds the value that was read may move it on.
			$moved = $wpdb->query(
				$wpdb->prepare(
					"UPDATE $wpdb->options SET option_value = %s WHERE option_name = 'sitemapd_seq' AND option_value = %s",
					(string) ( $last + $count ),
					$last
				)
			);
			if ( 1 === $moved ) {
				break;
			}
		}
		return (int) $last + 1;
	}

	/**
	 * Stores one message, due now.
	 *
	 * @param string $body      JSON, exactly as it will be sent each time.
	 * @param int    $first_seq Number of its first event.
	 * @param int    $events    How many events it holds.
	 * @param string $summary   A line for people.
	 * @return int The row's id; 0 when the database refused.
	 */
	public static function add( $body, $first_seq, $events, $summary ) {
		global $wpdb;
		$now    = self::time();
		$stored = $wpdb->insert(
			self::table(),
			array(
				'message_id' => 'msg_' . bin2hex( random_bytes( 16 ) ),
				'created_at' => $now,
				'first_seq'  => $first_seq,
				'events'     => $events,
				'summary'    => self::cut( $summary ),
				'body'       => $body,
				'next_at'    => $now,
			)
		);
		return $stored ? (int) $wpdb->insert_id : 0;
	}

	/**
	 * Takes one waiting row for an attempt.
	 *
	 * @param int  $id  The row.
	 * @param bool $now Even when it is not due yet.
	 * @return object|null The row, or null when it is not waiting, not due or somebody else's.
	 */
	public static function claim( $id, $now = false ) {
		global $wpdb;
		$table = self::table();
		$row   = $wpdb->get_row( $wpdb->prepare( "SELECT * FROM $table WHERE id = %d AND state = 'waiting'", $id ) );
		if ( ! $row || ( ! $now && $row->next_at > self::time() ) ) {
			return null;
		}
		$taken = $wpdb->query(
			$wpdb->prepare(
				"UPDATE $table SET next_at = %s, attempts = attempts + 1 WHERE id = %d AND state = 'waiting' AND attempts = %d AND next_at = %s",
				self::time( self::LEASE ),
				$id,
				$row->attempts,
				$row->next_at
			)
		);
		$row->attempts++;
		return 1 === $taken ? $row : null;
	}

	/**
	 * Writes down how an attempt ended.
	 *
	 * @param object $row    A claimed row.
	 * @param array  $result state (sent, waiting, failed), code, ms, error, next_at.
	 */
	public static function finish( $row, array $result ) {
		global $wpdb;
		$wpdb->update(
			self::table(),
			array(
				'state'      => $result['state'],
				'next_at'    => $result['next_at'],
				'last_at'    => self::time(),
				'last_code'  => $result['code'],
				'last_ms'    => $result['ms'],
				'last_error' => self::cut( $result['error'] ),
			),
			array( 'id' => $row->id )
		);
		if ( 'waiting' !== $result['state'] ) {
			self::prune();
		}
	}

	/** Keeps the newest of what is over; what waits is never dropped. */
	private static function prune() {
		global $wpdb;
		$table  = self::table();
		$oldest = $wpdb->get_var( $wpdb->prepare( "SELECT id FROM $table WHERE state <> 'waiting' ORDER BY id DESC LIMIT 1 OFFSET %d", self::KEEP ) );
		if ( $oldest ) {
			$wpdb->query( $wpdb->prepare( "DELETE FROM $table WHERE state <> 'waiting' AND id <= %d", $oldest ) );
		}
	}

	/**
	 * Ids of waiting rows, oldest first.
	 *
	 * @param bool $all Also those that are not due yet.
	 * @return int[]
	 */
	public static function due( $all = false ) {
		global $wpdb;
		$table = self::table();
		return array_map(
			'intval',
			$wpdb->get_col(
				$wpdb->prepare(
					"SELECT id FROM $table WHERE state = 'waiting' AND next_at <= %s ORDER BY id LIMIT 200",
					$all ? '9999-12-31 23:59:59' : self::time()
				)
			)
		);
	}

	/** When the next waiting row is due, as seconds since 1970; 0 when none waits. */
	public static function next() {
		global $wpdb;
		$next = $wpdb->get_var( 'SELECT MIN(next_at) FROM ' . self::table() . " WHERE state = 'waiting'" );
		return $next ? (int) strtotime( $next . ' UTC' ) : 0;
	}

	/**
	 * Puts rows back to waiting, due now, with the same message id.
	 *
	 * @param int[] $ids    Rows; empty for all that were given up.
	 * @return int How many.
	 */
	public static function resend( array $ids ) {
		global $wpdb;
		$table = self::table();
		if ( ! $ids ) {
			return (int) $wpdb->query( $wpdb->prepare( "UPDATE $table SET state = 'waiting', attempts = 0, next_at = %s WHERE state = 'failed'", self::time() ) );
		}
		$count = 0;
		foreach ( $ids as $id ) {
			$count += (int) $wpdb->query( $wpdb->prepare( "UPDATE $table SET state = 'waiting', attempts = 0, next_at = %s WHERE id = %d", self::time(), $id ) );
		}
		return $count;
	}

	/** The last deliveries, newest first. */
	public static function recent() {
		global $wpdb;
		return $wpdb->get_results( $wpdb->prepare( 'SELECT * FROM ' . self::table() . ' ORDER BY id DESC LIMIT %d', self::KEEP ) );
	}

	/** How many rows are in each state: waiting, sent, failed. */
	public static function counts() {
		global $wpdb;
		$counts = array(
			'waiting' => 0,
			'sent'    => 0,
			'failed'  => 0,
		);
		foreach ( $wpdb->get_results( 'SELECT state, COUNT(*) AS n FROM ' . self::table() . ' GROUP BY state' ) as $row ) {
			$counts[ $row->state ] = (int) $row->n;
		}
		return $counts;
	}

	/** The last number that was given out. */
	public static function last_seq() {
		global $wpdb;
		return (int) $wpdb->get_var( "SELECT option_value FROM $wpdb->options WHERE option_name = 'sitemapd_seq'" );
	}

	/**
	 * Database time.
	 *
	 * @param int $later Seconds from now.
	 */
	public static function time( $later = 0 ) {
		return gmdate( 'Y-m-d H:i:s', time() + $later );
	}

	/**
	 * Fits a text into its column without cutting a character in two.
	 *
	 * @param string $text Any text.
	 */
	private static function cut( $text ) {
		return function_exists( 'mb_substr' ) ? mb_substr( $text, 0, 190 ) : substr( $text, 0, 190 );
	}
}
