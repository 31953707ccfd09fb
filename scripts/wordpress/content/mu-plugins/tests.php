<?php
/**
 * What a test site needs besides WordPress itself: no mail, and application passwords although it speaks plain HTTP.
 */
if ( ! function_exists( 'wp_mail' ) ) {
	function wp_mail() {
		return true;
	}
}
add_filter( 'wp_is_application_passwords_available', '__return_true' );
add_filter( 'pre_site_transient_update_core', '__return_null' );
// The requests that tests make are told from each other by this header: how long PHP worked on one, in milliseconds.
add_action(
	'shutdown',
	function () {
		if ( ! headers_sent() ) {
			header( 'X-Test-Milliseconds: ' . round( 1000 * ( microtime( true ) - $_SERVER['REQUEST_TIME_FLOAT'] ), 1 ) );
		}
	},
	0
);
// A request with this header runs as if an SEO plugin of that name were active, as far as the companion plugin looks.
if ( isset( $_SERVER['HTTP_X_TEST_SEO'] ) && 'yoast' === $_SERVER['HTTP_X_TEST_SEO'] ) {
	define( 'WPSEO_VERSION', '28.4' );
}
// A request with this header runs as if the companion plugin were not installed, so that both can be timed in turn.
if ( isset( $_SERVER['HTTP_X_TEST_WITHOUT_PLUGIN'] ) ) {
	add_filter(
		'option_active_plugins',
		function ( $plugins ) {
			return array_diff( (array) $plugins, array( 'sitemapd/sitemapd.php' ) );
		}
	);
}
// WordPress pings ports 80, 443 and 8080 only; the tests' daemon listens on any free one.
add_filter(
	'http_allowed_safe_ports',
	function ( $ports, $host, $url ) {
		$ports[] = (int) wp_parse_url( $url, PHP_URL_PORT );
		return $ports;
	},
	10,
	3
);
// With this option sitemaps are answered with status 404 and their usual body, as WordPress 7.1.0 did on a site without
// posts, and as every version does for numbered files beyond the pages of the blog.
add_action(
	'template_redirect',
	function () {
		if ( get_query_var( 'sitemap' ) && get_option( 'sd_sitemap_404' ) ) {
			status_header( 404 );
		}
	},
	0
);
// With this option wp-admin shows its forms, which a test can fill in without scripts.
if ( get_option( 'sd_forms' ) ) {
	add_filter( 'use_block_editor_for_post', '__return_false' );
}
