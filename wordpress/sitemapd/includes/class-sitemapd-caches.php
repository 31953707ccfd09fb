<?php
/**
 * Sitemap caches of other plugins.
 *
 * @package Sitemapd
 */

defined( 'ABSPATH' ) || exit;

/**
 * Some plugins keep their sitemap in a cache that they empty only on wp-admin requests. A daemon that is told of a
 * publish and then reads yesterday's sitemap has gained nothing, so those caches are emptied first.
 */
class Sitemapd_Caches {

	/** Names of the plugins here whose sitemap cache we can empty. */
	public static function present() {
		$present = array();
		if ( method_exists( '\RankMath\Sitemap\Cache', 'invalidate_storage' ) ) {
			$present[] = 'rank_math';
		}
		if ( method_exists( '\The_SEO_Framework\Sitemap\Cache', 'clear_sitemap_caches' ) ) {
			$present[] = 'the_seo_framework';
		}
		if ( method_exists( 'WPSEO_Sitemaps_Cache', 'clear' ) ) {
			$present[] = 'yoast';
		}
		if ( defined( 'SEOPRESS_VERSION' ) ) {
			$present[] = 'seopress';
		}
		return $present;
	}

	/** The SEO plugin that declares canonical addresses here, or an empty string. */
	public static function seo_plugin() {
		$marks = array(
			'yoast'         => 'WPSEO_VERSION',
			'rank_math'     => 'RANK_MATH_VERSION',
			'seopress'      => 'SEOPRESS_VERSION',
			'seo_framework' => 'THE_SEO_FRAMEWORK_VERSION',
			'aioseo'        => 'AIOSEO_VERSION',
		);
		foreach ( $marks as $name => $mark ) {
			if ( defined( $mark ) ) {
				return $name;
			}
		}
		return '';
	}

	/**
	 * Empties them.
	 *
	 * @param string[] $names As present() gave them.
	 */
	public static function purge( array $names ) {
		foreach ( $names as $name ) {
			try {
				self::purge_one( $name );
			} catch ( Throwable $problem ) {
				// phpcs:ignore WordPress.PHP.DevelopmentFunctions.error_log_error_log -- another plugin's fault must not stop ours.
				error_log( 'sitemapd: sitemap cache of ' . $name . ': ' . $problem->getMessage() );
			}
		}
		/**
		 * For caches that this plugin does not know, such as one in front of the site.
		 */
		do_action( 'sitemapd_purge_caches' );
	}

	/**
	 * Empties one.
	 *
	 * @param string $name Plugin.
	 */
	private static function purge_one( $name ) {
		switch ( $name ) {
			case 'rank_math':
				\RankMath\Sitemap\Cache::invalidate_storage();
				break;
			case 'the_seo_framework':
				\The_SEO_Framework\Sitemap\Cache::clear_sitemap_caches();
				break;
			case 'yoast':
				WPSEO_Sitemaps_Cache::clear();
				break;
			case 'seopress':
				foreach ( array_merge( get_post_types( array( 'public' => true ) ), array( 'video' ) ) as $type ) {
					delete_transient( '_seopress_sitemap_ids_' . $type );
				}
				break;
		}
	}
}
