<?php
/** The configuration of a test site; scripts/lib/wordpress.sh fills in what stands between at-signs. */
define( 'DB_NAME', '@DATABASE@' );
define( 'DB_USER', 'sitemapd' );
define( 'DB_PASSWORD', '@PASSWORD@' );
define( 'DB_HOST', '127.0.0.1:@PORT@' );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', '' );
define( 'WP_HOME', '@HOME@' );
define( 'WP_SITEURL', '@HOME@' );
foreach ( array( 'AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE' ) as $key ) {
	define( $key . '_KEY', 'test key of ' . $key );
	define( $key . '_SALT', 'test salt of ' . $key );
}
// Nothing outside this machine is asked for, and scheduled work runs only when a test says so.
define( 'WP_HTTP_BLOCK_EXTERNAL', true );
define( 'WP_ACCESSIBLE_HOSTS', '127.0.0.1,localhost' );
define( 'AUTOMATIC_UPDATER_DISABLED', true );
define( 'DISABLE_WP_CRON', true );
define( 'WP_DEBUG', true );
define( 'WP_DEBUG_DISPLAY', false );
define( 'WP_DEBUG_LOG', __DIR__ . '/../debug.log' );
// WordPress before 5.9 does not expect the exceptions that newer versions of PHP throw by default.
mysqli_report( MYSQLI_REPORT_OFF );
$table_prefix = 'wp_';
if ( ! defined( 'ABSPATH' ) ) {
	define( 'ABSPATH', __DIR__ . '/' );
}
require_once ABSPATH . 'wp-settings.php';
