<?php
/**
 * Plugin Name:       sitemapd companion
 * Plugin URI:        https://github.com/sitemapd/sitemapd
 * Description:       Tells a sitemapd daemon the moment a page is published, changed, moved or taken away, without slowing the editor.
 * Version:           0.1.0
 * Requires at least: 5.5
 * Requires PHP:      7.2
 * Author:            The sitemapd contributors
 * License:           GPL-2.0-or-later
 * License URI:       https://www.gnu.org/licenses/gpl-2.0.html
 * Text Domain:       sitemapd
 * Domain Path:       /languages
 *
 * How it works: includes/class-sitemapd-watcher.php notes what a request changes, class-sitemapd-outbox.php keeps that
 * in a table until the daemon has taken it, class-sitemapd-sender.php signs and sends. The rest is for people.
 *
 * @package Sitemapd
 */

defined( 'ABSPATH' ) || exit;

define( 'SITEMAPD_VERSION', '0.1.0' );
define( 'SITEMAPD_FILE', __FILE__ );

require __DIR__ . '/includes/class-sitemapd-config.php';
require __DIR__ . '/includes/class-sitemapd-outbox.php';
require __DIR__ . '/includes/class-sitemapd-events.php';
require __DIR__ . '/includes/class-sitemapd-watcher.php';
require __DIR__ . '/includes/class-sitemapd-sender.php';
require __DIR__ . '/includes/class-sitemapd-caches.php';
require __DIR__ . '/includes/class-sitemapd-inventory.php';
require __DIR__ . '/includes/class-sitemapd-health.php';
require __DIR__ . '/includes/class-sitemapd-admin.php';

Sitemapd_Outbox::register();
Sitemapd_Watcher::register();
Sitemapd_Sender::register();
Sitemapd_Inventory::register();
Sitemapd_Health::register();
Sitemapd_Admin::register();

if ( defined( 'WP_CLI' ) && WP_CLI ) {
	require __DIR__ . '/includes/class-sitemapd-cli.php';
	WP_CLI::add_command( 'sitemapd', 'Sitemapd_CLI' );
}
