<?php
/**
 * Does to a real WordPress what an editor would do, through WordPress' own functions, and says what WordPress' own
 * database holds.
 *
 *   php driver.php ACTION [ARGUMENT]...      one line of JSON on standard output; exit code 1 and a sentence otherwise
 *
 * Called through the small file that scripts/lib/wordpress.sh lays into each test site (it names the site's folder).
 * The actions are the functions named sd_do_* in this file and in those beside it; `-` in an action's name stands for `_`.
 */

if ( PHP_SAPI !== 'cli' || ! defined( 'SITEMAPD_TEST_ROOT' ) ) {
	exit( 1 );
}
error_reporting( E_ALL & ~E_DEPRECATED );
$sd_home                   = preg_match( "~'WP_HOME', '([^']+)'~", file_get_contents( SITEMAPD_TEST_ROOT . 'wp-config.php' ), $m ) ? $m[1] : '';
$_SERVER['HTTP_HOST']      = preg_replace( '~^https?://~', '', $sd_home );
$_SERVER['SERVER_NAME']    = '127.0.0.1';
$_SERVER['REQUEST_URI']    = getenv( 'SD_PATH' ) ? getenv( 'SD_PATH' ) : '/';
$_SERVER['REQUEST_METHOD'] = 'GET';

$sd_action = isset( $argv[1] ) ? str_replace( '-', '_', $argv[1] ) : '';
if ( 'install' === $sd_action ) {
	define( 'WP_INSTALLING', true );
	define( 'WP_DEFAULT_THEME', 'plain' );
}
require SITEMAPD_TEST_ROOT . 'wp-load.php';
require __DIR__ . '/actions.php';
require __DIR__ . '/install.php';
require __DIR__ . '/plugin.php';
require __DIR__ . '/network.php';

$sd_function = 'sd_do_' . $sd_action;
if ( ! function_exists( $sd_function ) ) {
	fwrite( STDERR, "driver: no action '$sd_action'\n" );
	exit( 1 );
}
if ( 'install' !== $sd_action ) {
	wp_set_current_user( 1 );
}
try {
	$sd_answer = call_user_func_array( $sd_function, array_slice( $argv, 2 ) );
} catch ( Throwable $problem ) {
	fwrite( STDERR, "driver: $sd_action: " . $problem->getMessage() . "\n" );
	exit( 1 );
}
echo json_encode( $sd_answer, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE ), "\n";

/** Stops with a sentence when WordPress refused. */
function sd_need( $value ) {
	if ( is_wp_error( $value ) ) {
		throw new Exception( $value->get_error_message() );
	}
	if ( ! $value ) {
		throw new Exception( 'WordPress refused' );
	}
	return $value;
}
