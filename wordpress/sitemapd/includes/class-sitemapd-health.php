<?php
/**
 * Tools > Site Health.
 *
 * @package Sitemapd
 */

defined( 'ABSPATH' ) || exit;

/** Says whether the daemon is told of changes, and what to do when it is not. */
class Sitemapd_Health {

	/** Hooks. */
	public static function register() {
		add_filter( 'site_status_tests', array( __CLASS__, 'tests' ) );
		add_filter( 'debug_information', array( __CLASS__, 'information' ) );
	}

	/**
	 * Adds the tests.
	 *
	 * @param array $tests Of Site Health.
	 */
	public static function tests( $tests ) {
		$tests['direct']['sitemapd_delivery'] = array(
			'label' => __( 'Messages to the sitemapd daemon', 'sitemapd' ),
			'test'  => array( __CLASS__, 'delivery' ),
		);
		$tests['direct']['sitemapd_sitemap']  = array(
			'label' => __( 'A sitemap for sitemapd to read', 'sitemapd' ),
			'test'  => array( __CLASS__, 'sitemap' ),
		);
		return $tests;
	}

	/** Are messages on their way and do they arrive? */
	public static function delivery() {
		$problem = Sitemapd_Config::problem( Sitemapd_Config::endpoint(), Sitemapd_Config::secret() );
		if ( $problem ) {
			return self::result( 'sitemapd_delivery', 'recommended', __( 'The sitemapd daemon is not told of changes', 'sitemapd' ), $problem );
		}
		$state  = Sitemapd_Sender::state();
		$counts = Sitemapd_Outbox::counts();
		if ( $state['stopped'] ) {
			return self::result(
				'sitemapd_delivery',
				'critical',
				__( 'The sitemapd daemon no longer knows this site', 'sitemapd' ),
				__( 'It answered 410. Copy the address of its hook again and save the settings.', 'sitemapd' )
			);
		}
		if ( $state['failing'] ) {
			return self::result(
				'sitemapd_delivery',
				'critical',
				__( 'Messages to the sitemapd daemon do not arrive', 'sitemapd' ),
				/* translators: 1: error, 2: number of messages. */
				sprintf( __( 'The last attempt ended with: %1$s. %2$d messages are waiting and will be tried again.', 'sitemapd' ), $state['failing'], $counts['waiting'] )
			);
		}
		$next = Sitemapd_Outbox::next();
		if ( $next && $next < time() - HOUR_IN_SECONDS ) {
			return self::result(
				'sitemapd_delivery',
				'critical',
				__( 'Messages to the sitemapd daemon are overdue', 'sitemapd' ),
				__( 'WP-Cron does not run on this site, so nothing is tried again. Let a real cron call wp-cron.php.', 'sitemapd' )
			);
		}
		$host = (string) wp_parse_url( Sitemapd_Config::endpoint(), PHP_URL_HOST );
		if ( 0 !== stripos( Sitemapd_Config::endpoint(), 'https://' ) && ! in_array( $host, array( '127.0.0.1', 'localhost', '[::1]' ), true ) ) {
			return self::result(
				'sitemapd_delivery',
				'recommended',
				__( 'Messages to the sitemapd daemon are not encrypted', 'sitemapd' ),
				__( 'They are signed, so nobody can forge one, but anybody on the way can read them. Use https unless the way is your own network.', 'sitemapd' )
			);
		}
		return self::result(
			'sitemapd_delivery',
			'good',
			__( 'The sitemapd daemon is told of changes', 'sitemapd' ),
			/* translators: %d: number of messages. */
			sprintf( __( '%d messages are waiting.', 'sitemapd' ), $counts['waiting'] )
		);
	}

	/** Is there anything to read? */
	public static function sitemap() {
		if ( ! get_option( 'blog_public' ) ) {
			return self::result(
				'sitemapd_sitemap',
				'recommended',
				__( 'This site has no sitemap', 'sitemapd' ),
				__( 'Search engines are discouraged under Settings > Reading, and WordPress then has no sitemap. The daemon keeps what it knows and marks it stale.', 'sitemapd' )
			);
		}
		return self::result( 'sitemapd_sitemap', 'good', __( 'This site may have a sitemap', 'sitemapd' ), __( 'Search engines are not discouraged.', 'sitemapd' ) );
	}

	/**
	 * Puts a result into the shape of Site Health.
	 *
	 * @param string $test        Name.
	 * @param string $status      good, recommended or critical.
	 * @param string $label       Headline.
	 * @param string $description A sentence.
	 */
	private static function result( $test, $status, $label, $description ) {
		return array(
			'test'        => $test,
			'status'      => $status,
			'label'       => $label,
			'badge'       => array(
				'label' => 'sitemapd',
				'color' => 'blue',
			),
			'description' => '<p>' . esc_html( $description ) . '</p>',
			'actions'     => current_user_can( 'manage_options' ) ? sprintf( '<p><a href="%s">%s</a></p>', esc_url( Sitemapd_Admin::url() ), esc_html__( 'Settings of sitemapd', 'sitemapd' ) ) : '',
		);
	}

	/**
	 * The Info tab.
	 *
	 * @param array $info Sections.
	 */
	public static function information( $info ) {
		$counts = Sitemapd_Outbox::counts();
		$values = array(
			'version'   => array( __( 'Version', 'sitemapd' ), SITEMAPD_VERSION ),
			'endpoint'  => array( __( 'Address of the daemon', 'sitemapd' ), Sitemapd_Config::endpoint() ),
			'secret'    => array( __( 'Secret', 'sitemapd' ), '' === Sitemapd_Config::signing_key() ? __( 'not set', 'sitemapd' ) : __( 'set', 'sitemapd' ) ),
			'inventory' => array( __( 'Signed inventory', 'sitemapd' ), Sitemapd_Config::inventory() ? __( 'on', 'sitemapd' ) : __( 'off', 'sitemapd' ) ),
			'waiting'   => array( __( 'Messages waiting', 'sitemapd' ), $counts['waiting'] ),
			'failed'    => array( __( 'Messages given up', 'sitemapd' ), $counts['failed'] ),
			'seq'       => array( __( 'Last event number', 'sitemapd' ), Sitemapd_Outbox::last_seq() ),
		);
		$fields = array();
		foreach ( $values as $name => $value ) {
			$fields[ $name ] = array(
				'label'   => $value[0],
				'value'   => $value[1],
				'private' => 'endpoint' === $name,
			);
		}
		$info['sitemapd'] = array(
			'label'  => 'sitemapd',
			'fields' => $fields,
		);
		return $info;
	}
}
