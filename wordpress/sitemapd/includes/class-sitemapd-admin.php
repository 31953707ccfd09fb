<?php
/**
 * Settings > sitemapd.
 *
 * @package Sitemapd
 */

defined( 'ABSPATH' ) || exit;

/** The settings page: where to send, a test button, the last deliveries. */
class Sitemapd_Admin {

	const PAGE = 'sitemapd';

	/** Hooks. */
	public static function register() {
		add_action( 'init', array( __CLASS__, 'translations' ) );
		add_action( 'admin_menu', array( __CLASS__, 'menu' ) );
		add_action( 'admin_init', array( __CLASS__, 'settings' ) );
		add_action( 'admin_post_sitemapd_test', array( __CLASS__, 'test' ) );
		add_action( 'admin_post_sitemapd_resend', array( __CLASS__, 'resend' ) );
		add_action( 'admin_notices', array( __CLASS__, 'notice' ) );
		add_filter( 'plugin_action_links_' . plugin_basename( SITEMAPD_FILE ), array( __CLASS__, 'link' ) );
	}

	/** Loads the translations. */
	public static function translations() {
		load_plugin_textdomain( 'sitemapd', false, dirname( plugin_basename( SITEMAPD_FILE ) ) . '/languages' );
	}

	/** Address of the page. */
	public static function url() {
		return admin_url( 'options-general.php?page=' . self::PAGE );
	}

	/** Menu entry. */
	public static function menu() {
		add_options_page( 'sitemapd', 'sitemapd', 'manage_options', self::PAGE, array( __CLASS__, 'page' ) );
	}

	/**
	 * A link in the list of plugins.
	 *
	 * @param string[] $links Links.
	 */
	public static function link( $links ) {
		array_unshift( $links, sprintf( '<a href="%s">%s</a>', esc_url( self::url() ), esc_html__( 'Settings', 'sitemapd' ) ) );
		return $links;
	}

	/** Registers the one setting. */
	public static function settings() {
		register_setting(
			self::PAGE,
			Sitemapd_Config::OPTION,
			array(
				'type'              => 'array',
				'sanitize_callback' => array( __CLASS__, 'sanitize' ),
			)
		);
	}

	/**
	 * What the form sent, made safe. An empty secret keeps the stored one, as the form never shows it.
	 *
	 * @param mixed $input Form fields.
	 * @return array
	 */
	public static function sanitize( $input ) {
		$input  = is_array( $input ) ? $input : array();
		$stored = get_option( Sitemapd_Config::OPTION, array() );
		$clean  = array(
			'endpoint'  => isset( $input['endpoint'] ) ? esc_url_raw( trim( (string) $input['endpoint'] ), array( 'http', 'https' ) ) : '',
			'secret'    => isset( $input['secret'] ) ? preg_replace( '/\s+/', '', (string) $input['secret'] ) : '',
			'inventory' => ! empty( $input['inventory'] ),
		);
		if ( '' === $clean['secret'] && is_array( $stored ) && isset( $stored['secret'] ) ) {
			$clean['secret'] = $stored['secret'];
		}
		$problem = Sitemapd_Config::problem( $clean['endpoint'], $clean['secret'] );
		if ( $problem && function_exists( 'add_settings_error' ) ) {
			add_settings_error( Sitemapd_Config::OPTION, 'sitemapd', $problem );
		}
		Sitemapd_Sender::forget();
		return $clean;
	}

	/** The test button. */
	public static function test() {
		self::guard( 'sitemapd_test' );
		$problem = Sitemapd_Config::problem( Sitemapd_Config::endpoint(), Sitemapd_Config::secret() );
		if ( $problem ) {
			self::back( 'error', $problem );
		}
		$row = Sitemapd_Sender::test();
		if ( $row && 'sent' === $row->state ) {
			/* translators: %d: milliseconds. */
			self::back( 'success', sprintf( __( 'The daemon took the test message in %d ms.', 'sitemapd' ), $row->last_ms ) );
		}
		/* translators: %s: error. */
		self::back( 'error', sprintf( __( 'The test message did not arrive: %s', 'sitemapd' ), $row ? $row->last_error : __( 'it could not be stored', 'sitemapd' ) ) );
	}

	/** The button beside a delivery. */
	public static function resend() {
		self::guard( 'sitemapd_resend' );
		$id = isset( $_POST['id'] ) ? absint( $_POST['id'] ) : 0; // phpcs:ignore WordPress.Security.NonceVerification.Missing -- guard() checks it.
		if ( $id && Sitemapd_Outbox::resend( array( $id ) ) ) {
			Sitemapd_Sender::send( array( $id ), 5, true );
			self::back( 'success', __( 'Sent again; see its line below.', 'sitemapd' ) );
		}
		self::back( 'error', __( 'There is no such message.', 'sitemapd' ) );
	}

	/**
	 * Only an administrator, only from our page.
	 *
	 * @param string $action Nonce action.
	 */
	private static function guard( $action ) {
		if ( ! current_user_can( 'manage_options' ) ) {
			wp_die( esc_html__( 'You are not allowed to do this.', 'sitemapd' ), 403 );
		}
		check_admin_referer( $action );
	}

	/**
	 * Back to the page with a sentence for this user.
	 *
	 * @param string $kind    success or error.
	 * @param string $message Sentence.
	 */
	private static function back( $kind, $message ) {
		set_transient( 'sitemapd_message_' . get_current_user_id(), array( $kind, $message ), MINUTE_IN_SECONDS );
		wp_safe_redirect( self::url() );
		exit;
	}

	/** A warning on every screen of an administrator while messages are not taken. */
	public static function notice() {
		if ( ! current_user_can( 'manage_options' ) ) {
			return;
		}
		$state = Sitemapd_Sender::state();
		if ( $state['stopped'] || ( $state['failing'] && Sitemapd_Outbox::counts()['failed'] > 0 ) ) {
			printf(
				'<div class="notice notice-warning"><p>%s <a href="%s">%s</a></p></div>',
				/* translators: %s: error. */
				esc_html( sprintf( __( 'The sitemapd daemon is not told of changes: %s', 'sitemapd' ), $state['failing'] ) ),
				esc_url( self::url() ),
				esc_html__( 'Settings', 'sitemapd' )
			);
		}
	}

	/** The page. */
	public static function page() {
		$message = get_transient( 'sitemapd_message_' . get_current_user_id() );
		delete_transient( 'sitemapd_message_' . get_current_user_id() );
		echo '<div class="wrap"><h1>sitemapd</h1>';
		if ( is_array( $message ) ) {
			printf( '<div class="notice notice-%s"><p>%s</p></div>', esc_attr( $message[0] ), esc_html( $message[1] ) );
		}
		echo '<p>' . esc_html__( 'Tells a sitemapd daemon the moment a page is published, changed, moved or taken away.', 'sitemapd' ) . '</p>';
		echo '<form method="post" action="options.php">';
		settings_fields( self::PAGE );
		echo '<table class="form-table" role="presentation">';
		self::field_endpoint();
		self::field_secret();
		self::field_inventory();
		echo '</table>';
		submit_button();
		echo '</form>';

		printf( '<form method="post" action="%s"><input type="hidden" name="action" value="sitemapd_test">', esc_url( admin_url( 'admin-post.php' ) ) );
		wp_nonce_field( 'sitemapd_test' );
		submit_button( __( 'Send a test message', 'sitemapd' ), 'secondary', 'sitemapd-test', false );
		echo '</form>';
		self::deliveries();
		echo '</div>';
	}

	/** Row of the form: address. */
	private static function field_endpoint() {
		printf(
			'<tr><th scope="row"><label for="sitemapd-endpoint">%s</label></th><td><input type="url" class="regular-text code" id="sitemapd-endpoint" name="%s[endpoint]" value="%s" placeholder="https://sitemapd.example.org/hooks/my-site"%s><p class="description">%s</p></td></tr>',
			esc_html__( 'Address of the daemon\'s hook', 'sitemapd' ),
			esc_attr( Sitemapd_Config::OPTION ),
			esc_attr( Sitemapd_Config::endpoint() ),
			defined( 'SITEMAPD_ENDPOINT' ) ? ' readonly' : '',
			esc_html( defined( 'SITEMAPD_ENDPOINT' ) ? __( 'Set in wp-config.php as SITEMAPD_ENDPOINT.', 'sitemapd' ) : __( 'It may stand in a private network.', 'sitemapd' ) )
		);
	}

	/** Row of the form: secret, never shown. */
	private static function field_secret() {
		$known = '' !== Sitemapd_Config::secret();
		$text  = $known ? __( 'A secret is stored. Leave this empty to keep it.', 'sitemapd' ) : __( '"sitemapd hook secret" prints it.', 'sitemapd' );
		printf(
			'<tr><th scope="row"><label for="sitemapd-secret">%s</label></th><td><input type="password" class="regular-text code" id="sitemapd-secret" name="%s[secret]" value="" autocomplete="off" placeholder="whsec_…"%s><p class="description">%s</p></td></tr>',
			esc_html__( 'Shared secret', 'sitemapd' ),
			esc_attr( Sitemapd_Config::OPTION ),
			defined( 'SITEMAPD_SECRET' ) ? ' disabled' : '',
			esc_html( defined( 'SITEMAPD_SECRET' ) ? __( 'Set in wp-config.php as SITEMAPD_SECRET.', 'sitemapd' ) : $text )
		);
	}

	/** Row of the form: inventory. */
	private static function field_inventory() {
		printf(
			'<tr><th scope="row">%s</th><td><label><input type="checkbox" name="%s[inventory]" value="1"%s%s> %s</label></td></tr>',
			esc_html__( 'Signed inventory', 'sitemapd' ),
			esc_attr( Sitemapd_Config::OPTION ),
			checked( Sitemapd_Config::inventory(), true, false ),
			defined( 'SITEMAPD_INVENTORY' ) ? ' disabled' : '',
			esc_html__( 'Let the daemon read the list of published posts, with the same secret, to prove what was deleted or moved.', 'sitemapd' )
		);
	}

	/** The last deliveries. */
	private static function deliveries() {
		echo '<h2>' . esc_html__( 'Last deliveries', 'sitemapd' ) . '</h2>';
		$rows = Sitemapd_Outbox::recent();
		if ( ! $rows ) {
			echo '<p>' . esc_html__( 'None yet. Publish something, or send a test message.', 'sitemapd' ) . '</p>';
			return;
		}
		$states = array(
			'waiting' => __( 'waiting', 'sitemapd' ),
			'sent'    => __( 'taken', 'sitemapd' ),
			'failed'  => __( 'given up', 'sitemapd' ),
		);
		echo '<table class="widefat striped"><thead><tr>';
		foreach ( array( __( 'Time (UTC)', 'sitemapd' ), __( 'What', 'sitemapd' ), __( 'Numbers', 'sitemapd' ), __( 'State', 'sitemapd' ), __( 'Attempts', 'sitemapd' ), __( 'Answer', 'sitemapd' ), '' ) as $head ) {
			echo '<th scope="col">' . esc_html( $head ) . '</th>';
		}
		echo '</tr></thead><tbody>';
		foreach ( $rows as $row ) {
			$last   = $row->first_seq + $row->events - 1;
			$answer = $row->last_error ? $row->last_error : ( $row->last_code ? $row->last_code . ', ' . $row->last_ms . ' ms' : '' );
			printf(
				'<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%d</td><td>%s</td><td>',
				esc_html( $row->created_at ),
				esc_html( $row->summary ),
				esc_html( $row->events > 1 ? $row->first_seq . '–' . $last : $row->first_seq ),
				esc_html( isset( $states[ $row->state ] ) ? $states[ $row->state ] : $row->state ),
				(int) $row->attempts,
				esc_html( $answer )
			);
			printf( '<form method="post" action="%s"><input type="hidden" name="action" value="sitemapd_resend"><input type="hidden" name="id" value="%d">', esc_url( admin_url( 'admin-post.php' ) ), (int) $row->id );
			wp_nonce_field( 'sitemapd_resend', '_wpnonce', true );
			printf( '<button class="button-link">%s</button></form></td></tr>', esc_html__( 'Send again', 'sitemapd' ) );
		}
		echo '</tbody></table>';
	}
}
