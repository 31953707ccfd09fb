<?php
/**
 * Where to send and with which secret.
 *
 * @package Sitemapd
 */

defined( 'ABSPATH' ) || exit;

/**
 * The settings of one site. A constant in wp-config.php wins over the settings page:
 * SITEMAPD_ENDPOINT (%d stands for the site's number in a network), SITEMAPD_SECRET, SITEMAPD_INVENTORY.
 */
class Sitemapd_Config {

	const OPTION = 'sitemapd_settings';

	/**
	 * One stored setting.
	 *
	 * @param string $name endpoint, secret or inventory.
	 * @return mixed Empty string when it was never set.
	 */
	private static function stored( $name ) {
		$all = get_option( self::OPTION, array() );
		return is_array( $all ) && isset( $all[ $name ] ) ? $all[ $name ] : '';
	}

	/** The daemon's hook address for this site, or an empty string. */
	public static function endpoint() {
		if ( defined( 'SITEMAPD_ENDPOINT' ) ) {
			return str_replace( '%d', (string) get_current_blog_id(), SITEMAPD_ENDPOINT );
		}
		return (string) self::stored( 'endpoint' );
	}

	/** The shared secret as it was given, or an empty string. */
	public static function secret() {
		return defined( 'SITEMAPD_SECRET' ) ? (string) SITEMAPD_SECRET : (string) self::stored( 'secret' );
	}

	/** Whether the daemon may read the signed inventory. */
	public static function inventory() {
		return defined( 'SITEMAPD_INVENTORY' ) ? (bool) SITEMAPD_INVENTORY : (bool) self::stored( 'inventory' );
	}

	/** Whether there is somewhere to send to. */
	public static function ready() {
		return '' !== self::endpoint() && '' !== self::signing_key();
	}

	/**
	 * The bytes that sign: base64 after "whsec_" (Standard Webhooks), any other text as it stands.
	 *
	 * @param string|null $secret The secret to read; null for the configured one.
	 * @return string Empty when there is none or it is not valid.
	 */
	public static function signing_key( $secret = null ) {
		$secret = null === $secret ? self::secret() : $secret;
		if ( 0 !== strpos( $secret, 'whsec_' ) ) {
			return $secret;
		}
		// phpcs:ignore WordPress.PHP.DiscouragedPHPFunctions.obfuscation_base64_decode -- the key's own format.
		$key = base64_decode( substr( $secret, 6 ), true );
		return false === $key ? '' : $key;
	}

	/**
	 * Signs as Standard Webhooks says: HMAC-SHA256 over "id.timestamp.content".
	 *
	 * @param string $id        Message id.
	 * @param int    $timestamp Seconds since 1970.
	 * @param string $content   The exact bytes that are sent.
	 * @return string "v1," and the base64 of the MAC.
	 */
	public static function sign( $id, $timestamp, $content ) {
		// phpcs:ignore WordPress.PHP.DiscouragedPHPFunctions.obfuscation_base64_encode -- the signature's own format.
		return 'v1,' . base64_encode( hash_hmac( 'sha256', $id . '.' . $timestamp . '.' . $content, self::signing_key(), true ) );
	}

	/**
	 * What is wrong with an address or a secret, in one sentence; an empty string when nothing is.
	 *
	 * @param string $endpoint Address of the daemon's hook.
	 * @param string $secret   Shared secret.
	 */
	public static function problem( $endpoint, $secret ) {
		if ( '' === $endpoint ) {
			return __( 'No address of the daemon is set.', 'sitemapd' );
		}
		if ( ! preg_match( '~^https?://[^/\s]+~i', $endpoint ) ) {
			return __( 'The address must begin with https:// or http://.', 'sitemapd' );
		}
		if ( '' === $secret ) {
			return __( 'No secret is set. "sitemapd hook secret" prints one.', 'sitemapd' );
		}
		if ( strlen( self::signing_key( $secret ) ) < 16 ) {
			return __( 'The secret is too short or not valid: copy all of it, including "whsec_".', 'sitemapd' );
		}
		return '';
	}
}
