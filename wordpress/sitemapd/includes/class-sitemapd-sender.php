<?php
/**
 * Signs and sends.
 *
 * @package Sitemapd
 */

defined( 'ABSPATH' ) || exit;

/**
 * Sending never costs the editor more than a second, whatever the daemon does: where the server can end the response
 * first (PHP-FPM, LiteSpeed) nobody waits; elsewhere one attempt of at most a second is made, and after a slow or
 * failed one the next messages are left to WP-Cron for ten minutes.
 */
class Sitemapd_Sender {

	/** What is remembered between requests: slow_until, failing, stopped. Absent while all is well. */
	const STATE = 'sitemapd_state';

	/** Seconds during which requests leave sending to WP-Cron after a slow or failed attempt. */
	const REST = 600;

	/** Hooks. */
	public static function register() {
		add_action( 'sitemapd_deliver', array( __CLASS__, 'deliver' ) );
		add_action( 'sitemapd_retry', array( __CLASS__, 'deliver' ) );
	}

	/** What is remembered. */
	public static function state() {
		$state = get_option( self::STATE, array() );
		return ( is_array( $state ) ? $state : array() ) + array(
			'slow_until' => 0,
			'failing'    => '',
			'stopped'    => '',
		);
	}

	/**
	 * Remembers, writing only what is new.
	 *
	 * @param array $change Changed values; empty for: all is well.
	 */
	private static function remember( array $change ) {
		if ( $change ) {
			update_option( self::STATE, $change + self::state() );
		} elseif ( get_option( self::STATE ) ) {
			delete_option( self::STATE );
		}
	}

	/** Forgets earlier failures, for example when the settings are new. */
	public static function forget() {
		delete_option( self::STATE );
	}

	/**
	 * Stores events as messages, ends the response where that can be done, and makes the first attempt.
	 *
	 * @param array[] $events Events of this request.
	 */
	public static function dispatch( array $events ) {
		$caches = Sitemapd_Caches::present();
		$ids    = array();
		foreach ( Sitemapd_Events::pack( $events, $caches ) as $message ) {
			$ids[] = Sitemapd_Outbox::add( $message['body'], $message['first_seq'], $message['events'], $message['summary'] );
		}
		$nobody_waits = self::end_response() || 'cli' === PHP_SAPI || wp_doing_cron();
		Sitemapd_Caches::purge( $caches );

		$state = self::state();
		if ( $state['stopped'] === Sitemapd_Config::endpoint() ) {
			return;
		}
		if ( ! $nobody_waits && $state['slow_until'] > time() ) {
			self::schedule( time() );
			return;
		}
		$begin = microtime( true );
		foreach ( array_filter( $ids ) as $id ) {
			$spent = microtime( true ) - $begin;
			if ( ! $nobody_waits && $spent > 0.3 ) {
				self::schedule( time() );
				return;
			}
			if ( ! self::attempt( $id, $nobody_waits ? 5 : 1 ) ) {
				return;
			}
		}
	}

	/** Ends the response to the browser, if this server can do that; true when nobody waits any more. */
	private static function end_response() {
		foreach ( array( 'fastcgi_finish_request', 'litespeed_finish_request' ) as $function ) {
			if ( function_exists( $function ) ) {
				if ( PHP_SESSION_ACTIVE === session_status() ) {
					session_write_close();
				}
				return false !== call_user_func( $function );
			}
		}
		return false;
	}

	/** WP-Cron: everything that is due, oldest first, until one attempt fails or twenty seconds have passed. */
	public static function deliver() {
		if ( ! Sitemapd_Config::ready() || self::state()['stopped'] === Sitemapd_Config::endpoint() ) {
			return;
		}
		self::send( Sitemapd_Outbox::due(), 10 );
	}

	/**
	 * Sends rows in order.
	 *
	 * @param int[] $ids     Rows.
	 * @param int   $timeout Seconds for each.
	 * @param bool  $now     Also those that are not due.
	 * @return int How many were taken by the daemon.
	 */
	public static function send( array $ids, $timeout, $now = false ) {
		$sent  = 0;
		$until = time() + 20;
		foreach ( $ids as $id ) {
			if ( time() >= $until ) {
				self::schedule( time() );
				break;
			}
			if ( ! self::attempt( $id, $timeout, $now ) ) {
				// The daemon is not there: the others need not find that out one by one.
				return $sent;
			}
			$sent++;
		}
		$next = Sitemapd_Outbox::next();
		if ( $next ) {
			self::schedule( $next );
		}
		return $sent;
	}

	/**
	 * One attempt at one row. Writes down how it ended and plans the next.
	 *
	 * @param int  $id      Row.
	 * @param int  $timeout Seconds.
	 * @param bool $now     Even when it is not due.
	 * @return bool False when the daemon could not take it now; true when the row is done with or was not ours to send.
	 */
	public static function attempt( $id, $timeout, $now = false ) {
		$row = Sitemapd_Outbox::claim( $id, $now );
		if ( ! $row ) {
			return true;
		}
		$begin  = microtime( true );
		$answer = self::post( $row, $timeout );
		$result = self::judge( $answer, (int) $row->attempts );

		$result['ms'] = (int) round( 1000 * ( microtime( true ) - $begin ) );
		Sitemapd_Outbox::finish( $row, $result );
		if ( 'sent' === $result['state'] ) {
			self::remember( $result['ms'] > 500 ? array( 'slow_until' => time() + self::REST, 'failing' => '' ) : array() );
			return true;
		}
		self::remember(
			array(
				'slow_until' => time() + self::REST,
				'failing'    => $result['error'],
				'stopped'    => 410 === $result['code'] ? Sitemapd_Config::endpoint() : '',
			)
		);
		if ( 'failed' === $result['state'] ) {
			return 410 !== $result['code'];
		}
		self::schedule( max( time() + 60, (int) strtotime( $result['next_at'] . ' UTC' ) ) );
		return false;
	}

	/**
	 * The request itself.
	 *
	 * @param object $row     Row of the outbox.
	 * @param int    $timeout Seconds.
	 * @return array|WP_Error
	 */
	private static function post( $row, $timeout ) {
		$now = time();
		// Without curl the time to connect has a limit of its own, ten seconds, unless it is set.
		$limit = function ( &$url, &$headers, &$data, &$type, &$options ) use ( $timeout ) {
			$options['connect_timeout'] = $timeout;
		};
		add_action( 'requests-requests.before_request', $limit, 10, 5 );
		// The daemon may stand in the same private network, and only an administrator can name it. In a network of sites
		// an administrator of one site is not trusted that far, unless wp-config.php names the address.
		$answer = wp_remote_post(
			Sitemapd_Config::endpoint(),
			array(
				'timeout'             => $timeout,
				'redirection'         => 0,
				'reject_unsafe_urls'  => is_multisite() && ! defined( 'SITEMAPD_ENDPOINT' ),
				'user-agent'          => 'sitemapd-wordpress/' . SITEMAPD_VERSION . ' (+' . home_url( '/' ) . ')',
				'headers'             => array(
					'Content-Type'      => 'application/json',
					'webhook-id'        => $row->message_id,
					'webhook-timestamp' => (string) $now,
					'webhook-signature' => Sitemapd_Config::sign( $row->message_id, $now, $row->body ),
				),
				'body'                => $row->body,
				'limit_response_size' => 4096,
			)
		);
		remove_action( 'requests-requests.before_request', $limit, 10 );
		return $answer;
	}

	/**
	 * What an answer means: 2xx done, 410 never again, what will not get better by waiting is given up, the rest later.
	 *
	 * @param array|WP_Error $answer   Of wp_remote_post.
	 * @param int            $attempts How many there were, this one included.
	 */
	private static function judge( $answer, $attempts ) {
		$code   = is_wp_error( $answer ) ? 0 : (int) wp_remote_retrieve_response_code( $answer );
		$error  = is_wp_error( $answer ) ? $answer->get_error_message() : '';
		$result = array(
			'state'   => 'sent',
			'code'    => $code,
			'error'   => '',
			'next_at' => Sitemapd_Outbox::time(),
		);
		if ( $code >= 200 && $code < 300 ) {
			return $result;
		}
		/* translators: %d: HTTP status code. */
		$result['error'] = $error ? $error : sprintf( __( 'The daemon answered %d.', 'sitemapd' ), $code );
		$result['state'] = 'failed';
		if ( in_array( $code, array( 400, 410, 413, 415, 422 ), true ) || $attempts > count( Sitemapd_Outbox::RETRY ) ) {
			return $result;
		}
		$wait  = Sitemapd_Outbox::RETRY[ $attempts - 1 ];
		$after = $code ? (int) wp_remote_retrieve_header( $answer, 'retry-after' ) : 0;
		$wait  = max( $wait + wp_rand( 0, (int) ( $wait / 10 ) ), min( $after, DAY_IN_SECONDS ) );

		$result['state']   = 'waiting';
		$result['next_at'] = Sitemapd_Outbox::time( $wait );
		return $result;
	}

	/**
	 * Plans the next run of WP-Cron for the outbox: exactly one.
	 *
	 * @param int $when Seconds since 1970.
	 */
	private static function schedule( $when ) {
		wp_unschedule_hook( 'sitemapd_retry' );
		// WordPress refuses an event like one of the last ten minutes; the argument makes each its own.
		wp_schedule_single_event( $when, 'sitemapd_retry', array( $when ) );
	}

	/**
	 * Sends a test message now. It is not tried again: whoever pressed the button sees the answer.
	 *
	 * @return object The row as it is afterwards; null when it could not be stored.
	 */
	public static function test() {
		global $wpdb;
		Sitemapd_Outbox::install();
		self::forget();
		$events   = array( Sitemapd_Events::event( 'site.test', array( 'url' => home_url( '/' ) ) ) );
		$messages = Sitemapd_Events::pack( $events, array() );
		$id       = Sitemapd_Outbox::add( $messages[0]['body'], $messages[0]['first_seq'], 1, $messages[0]['summary'] );
		self::attempt( $id, 5 );
		$wpdb->update(
			Sitemapd_Outbox::table(),
			array( 'state' => 'failed' ),
			array(
				'id'    => $id,
				'state' => 'waiting',
			)
		);
		return $wpdb->get_row( $wpdb->prepare( 'SELECT * FROM ' . Sitemapd_Outbox::table() . ' WHERE id = %d', $id ) );
	}
}
