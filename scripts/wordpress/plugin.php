<?php
/**
 * Actions of driver.php that concern the companion plugin.
 */

/** configure ENDPOINT SECRET [inventory] */
function sd_do_configure( $endpoint, $secret, $inventory = '' ) {
	update_option(
		'sitemapd_settings',
		array(
			'endpoint'  => $endpoint,
			'secret'    => $secret,
			'inventory' => 'inventory' === $inventory,
		)
	);
	delete_option( 'sitemapd_state' );
	return array( 'ready' => class_exists( 'Sitemapd_Config' ) && Sitemapd_Config::ready() );
}

/** outbox: the table, newest first. */
function sd_do_outbox() {
	global $wpdb;
	return array(
		'rows'  => Sitemapd_Outbox::recent(),
		'seq'   => Sitemapd_Outbox::last_seq(),
		'state' => Sitemapd_Sender::state(),
		'cron'  => (int) wp_next_scheduled_any( 'sitemapd_retry' ),
	);
}

/** The next run of a hook, whatever its arguments. */
function wp_next_scheduled_any( $hook ) {
	foreach ( _get_cron_array() as $time => $hooks ) {
		if ( isset( $hooks[ $hook ] ) ) {
			return $time;
		}
	}
	return 0;
}

/** outbox-due: as if the time of the next attempt had come. */
function sd_do_outbox_due() {
	global $wpdb;
	$wpdb->query( 'UPDATE ' . Sitemapd_Outbox::table() . " SET next_at = '2000-01-01 00:00:00' WHERE state = 'waiting'" );
	return array( 'due' => Sitemapd_Outbox::due() );
}

/** outbox-clear */
function sd_do_outbox_clear() {
	global $wpdb;
	$wpdb->query( 'DELETE FROM ' . Sitemapd_Outbox::table() );
	Sitemapd_Sender::forget();
	return array();
}

/** health: the answers of our Site Health tests. */
function sd_do_health() {
	$tests = apply_filters( 'site_status_tests', array( 'direct' => array(), 'async' => array() ) );
	$found = array();
	foreach ( $tests['direct'] as $name => $test ) {
		if ( 0 === strpos( $name, 'sitemapd' ) ) {
			$result         = call_user_func( $test['test'] );
			$found[ $name ] = array( 'status' => $result['status'], 'label' => $result['label'] );
		}
	}
	$info          = apply_filters( 'debug_information', array() );
	$found['info'] = array_map(
		function ( $field ) {
			return $field['value'];
		},
		$info['sitemapd']['fields']
	);
	return $found;
}

/** wp-cli COMMAND [ARGUMENT]...: our WP-CLI commands with a stand-in for WP-CLI, which Debian does not package. */
function sd_do_wp_cli( $command, ...$arguments ) {
	if ( ! class_exists( 'WP_CLI' ) ) {
		class_alias( 'SD_WP_CLI', 'WP_CLI' );
	}
	require_once WP_PLUGIN_DIR . '/sitemapd/includes/class-sitemapd-cli.php';
	$options = array();
	foreach ( $arguments as $at => $argument ) {
		if ( preg_match( '/^--([a-z]+)=(.*)$/', $argument, $m ) ) {
			$options[ $m[1] ] = $m[2];
			unset( $arguments[ $at ] );
		}
	}
	try {
		call_user_func( array( new Sitemapd_CLI(), $command ), array_values( $arguments ), $options );
	} catch ( SD_CLI_Stop $stop ) {
		SD_WP_CLI::$lines[] = 'Error: ' . $stop->getMessage();
	}
	return array( 'lines' => SD_WP_CLI::$lines );
}

class SD_CLI_Stop extends Exception {}

class SD_WP_CLI {
	public static $lines = array();
	public static function line( $text ) {
		self::$lines[] = $text;
	}
	public static function success( $text ) {
		self::$lines[] = 'Success: ' . $text;
	}
	public static function error( $text ) {
		throw new SD_CLI_Stop( $text );
	}
}

/** uninstall: what WordPress does when the plugin is deleted; says what is left. */
function sd_do_uninstall() {
	global $wpdb;
	require_once ABSPATH . 'wp-admin/includes/plugin.php';
	deactivate_plugins( 'sitemapd/sitemapd.php' );
	define( 'WP_UNINSTALL_PLUGIN', 'sitemapd/sitemapd.php' );
	include WP_PLUGIN_DIR . '/sitemapd/uninstall.php';
	wp_cache_flush();
	return array(
		'tables'  => $wpdb->get_col( "SHOW TABLES LIKE '%sitemapd%'" ),
		'options' => $wpdb->get_col( "SELECT option_name FROM $wpdb->options WHERE option_name LIKE '%sitemapd%'" ),
		'cron'    => wp_next_scheduled_any( 'sitemapd_deliver' ) + wp_next_scheduled_any( 'sitemapd_retry' ),
	);
}
