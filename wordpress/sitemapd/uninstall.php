<?php
/**
 * Removes everything that the plugin stored, on every site of a network.
 *
 * @package Sitemapd
 */

defined( 'WP_UNINSTALL_PLUGIN' ) || exit;

/** The tables, options and events of the current site. */
function sitemapd_uninstall_site() {
	global $wpdb;
	// phpcs:ignore WordPress.DB.DirectDatabaseQuery -- our own table.
	$wpdb->query( "DROP TABLE IF EXISTS {$wpdb->prefix}sitemapd_outbox" );
	foreach ( array( 'sitemapd_settings', 'sitemapd_schema', 'sitemapd_seq', 'sitemapd_state' ) as $sitemapd_option ) {
		delete_option( $sitemapd_option );
	}
	wp_unschedule_hook( 'sitemapd_deliver' );
	wp_unschedule_hook( 'sitemapd_retry' );
}

if ( is_multisite() ) {
	$sitemapd_sites = get_sites(
		array(
			'fields' => 'ids',
			'number' => 0,
		)
	);
	foreach ( $sitemapd_sites as $sitemapd_site ) {
		switch_to_blog( $sitemapd_site );
		sitemapd_uninstall_site();
		restore_current_blog();
	}
} else {
	sitemapd_uninstall_site();
}
