<?php
/**
 * WP-CLI: wp sitemapd.
 *
 * @package Sitemapd
 */

defined( 'ABSPATH' ) || exit;

/** Talks to the sitemapd daemon. */
class Sitemapd_CLI {

	/**
	 * Says where messages go, how many wait, and how the last one ended.
	 *
	 * ## OPTIONS
	 *
	 * [--format=<format>]
	 * : table or json.
	 *
	 * @param array $args    Not used.
	 * @param array $options Options.
	 */
	public function status( $args, $options ) {
		$counts = Sitemapd_Outbox::counts();
		$recent = Sitemapd_Outbox::recent();
		$state  = Sitemapd_Sender::state();
		$status = array(
			'endpoint'  => Sitemapd_Config::endpoint(),
			'problem'   => Sitemapd_Config::problem( Sitemapd_Config::endpoint(), Sitemapd_Config::secret() ),
			'inventory' => Sitemapd_Config::inventory(),
			'waiting'   => $counts['waiting'],
			'sent'      => $counts['sent'],
			'failed'    => $counts['failed'],
			'last_seq'  => Sitemapd_Outbox::last_seq(),
			'last'      => $recent ? $recent[0]->summary . ' ' . $recent[0]->state : '',
			'failing'   => $state['failing'],
		);
		if ( isset( $options['format'] ) && 'json' === $options['format'] ) {
			WP_CLI::line( wp_json_encode( $status ) );
			return;
		}
		foreach ( $status as $name => $value ) {
			WP_CLI::line( sprintf( '%-10s %s', $name, is_bool( $value ) ? ( $value ? 'on' : 'off' ) : $value ) );
		}
	}

	/**
	 * Sends a test message and says how the daemon answered.
	 */
	public function test() {
		$this->need();
		$row = Sitemapd_Sender::test();
		if ( ! $row || 'sent' !== $row->state ) {
			WP_CLI::error( $row ? $row->last_error : 'the message could not be stored' );
		}
		WP_CLI::success( sprintf( 'taken in %d ms', $row->last_ms ) );
	}

	/**
	 * Sends messages again that were given up, or those named.
	 *
	 * ## OPTIONS
	 *
	 * [<id>...]
	 * : Rows of the list of deliveries.
	 *
	 * @param array $args Ids.
	 */
	public function resend( $args ) {
		$this->need();
		$count = Sitemapd_Outbox::resend( array_map( 'intval', $args ) );
		$sent  = Sitemapd_Sender::send( Sitemapd_Outbox::due(), 5 );
		$this->report( $count, $sent );
	}

	/**
	 * Sends everything that waits now; with posts, announces these first; without anything waiting, asks for a look.
	 *
	 * ## OPTIONS
	 *
	 * [<post>...]
	 * : Numbers of published posts.
	 *
	 * @param array $args Post ids.
	 */
	public function push( $args ) {
		$this->need();
		foreach ( $args as $id ) {
			$post = get_post( (int) $id );
			if ( ! $post ) {
				WP_CLI::error( "there is no post $id" );
			}
			Sitemapd_Watcher::announce( $post );
		}
		if ( ! $args ) {
			Sitemapd_Watcher::site_event( 'site.push' );
		}
		Sitemapd_Watcher::flush();
		$waiting = Sitemapd_Outbox::due( true );
		$sent    = Sitemapd_Sender::send( $waiting, 5, true );
		$this->report( count( $waiting ), $sent );
	}

	/** Stops when nothing is configured. */
	private function need() {
		$problem = Sitemapd_Config::problem( Sitemapd_Config::endpoint(), Sitemapd_Config::secret() );
		if ( $problem ) {
			WP_CLI::error( $problem );
		}
	}

	/**
	 * Says how it went.
	 *
	 * @param int $tried How many were to be sent.
	 * @param int $sent  How many were.
	 */
	private function report( $tried, $sent ) {
		if ( $sent < $tried ) {
			WP_CLI::error( sprintf( '%d of %d taken; %s', $sent, $tried, Sitemapd_Sender::state()['failing'] ) );
		}
		WP_CLI::success( $tried ? sprintf( '%d taken', $sent ) : 'nothing is waiting' );
	}
}
