<?php
/**
 * Actions of driver.php that make a site the first of a network (multisite, sub-folders) and act within it. The
 * environment variable SD_PATH says as which site the driver runs, for example /two/.
 */

/** network-on: what Tools > Network Setup does, including its change of wp-config.php. */
function sd_do_network_on() {
	global $wpdb;
	require_once ABSPATH . 'wp-admin/includes/upgrade.php';
	require_once ABSPATH . 'wp-admin/includes/network.php';
	foreach ( $wpdb->tables( 'ms_global' ) as $table => $name ) {
		$wpdb->$table = $name;
	}
	install_network();
	$host = $_SERVER['HTTP_HOST'];
	sd_need( populate_network( 1, $host, 'admin@example.org', 'Network', '/', false ) );
	$file   = ABSPATH . 'wp-config.php';
	$config = preg_replace( "~define\( 'WP_(HOME|SITEURL)'.*\n~", '', file_get_contents( $file ) );
	$lines  = "define( 'MULTISITE', true );\ndefine( 'SUBDOMAIN_INSTALL', false );\ndefine( 'DOMAIN_CURRENT_SITE', '$host' );\n"
		. "define( 'PATH_CURRENT_SITE', '/' );\ndefine( 'SITE_ID_CURRENT_SITE', 1 );\ndefine( 'BLOG_ID_CURRENT_SITE', 1 );\n"
		. "// 'WP_HOME', 'http://$host'\n";
	file_put_contents( $file, str_replace( '$table_prefix', $lines . '$table_prefix', $config ) );
	return array( 'host' => $host );
}

/** network-site NAME: a further site in the folder /NAME/. */
function sd_do_network_site( $name ) {
	// Not wpmu_create_blog, which takes the colon out of a host with a port.
	$id = sd_need(
		wp_insert_site(
			array(
				'domain'     => $_SERVER['HTTP_HOST'],
				'path'       => "/$name/",
				'network_id' => 1,
				'title'      => "Site $name",
				'user_id'    => 1,
			)
		)
	);
	// Older versions take it out here as well.
	global $wpdb;
	$wpdb->update( $wpdb->blogs, array( 'domain' => $_SERVER['HTTP_HOST'] ), array( 'blog_id' => $id ) );
	update_blog_option( $id, 'home', "http://$_SERVER[HTTP_HOST]/$name" );
	update_blog_option( $id, 'siteurl', "http://$_SERVER[HTTP_HOST]/$name" );
	return array( 'id' => $id, 'url' => get_home_url( $id, '/' ) );
}

/** network-plugin: on for all sites. */
function sd_do_network_plugin() {
	require_once ABSPATH . 'wp-admin/includes/plugin.php';
	$problem = activate_plugin( 'sitemapd/sitemapd.php', '', true );
	if ( is_wp_error( $problem ) ) {
		throw new Exception( $problem->get_error_message() );
	}
	return array( 'active' => is_plugin_active_for_network( 'sitemapd/sitemapd.php' ) );
}

/** publish-on BLOG TITLE: from another site, as network tools do. */
function sd_do_publish_on( $blog, $title ) {
	switch_to_blog( (int) $blog );
	$post = sd_do_publish( $title );
	restore_current_blog();
	return $post;
}
