<?php
/**
 * The signed list of what this site has published.
 *
 * @package Sitemapd
 */

defined( 'ABSPATH' ) || exit;

/**
 * GET /wp-json/sitemapd/v1/inventory?after_id=0&limit=1000, off unless it is switched on.
 *
 * It says what a sitemap cannot: which posts there are by number, so a page that moved is told from one that went, and a
 * list read to its end is complete. The request is signed like a hook, over "id.timestamp.inventory?after_id=N&limit=N".
 */
class Sitemapd_Inventory {

	const MOST   = 2000;
	const WINDOW = 300;

	/** Hooks. */
	public static function register() {
		add_action( 'rest_api_init', array( __CLASS__, 'route' ) );
	}

	/** The route; where the inventory is off it does not exist. */
	public static function route() {
		if ( ! Sitemapd_Config::inventory() || '' === Sitemapd_Config::signing_key() ) {
			return;
		}
		$number = array(
			'type'    => 'integer',
			'minimum' => 0,
		);
		register_rest_route(
			'sitemapd/v1',
			'/inventory',
			array(
				'methods'             => 'GET',
				'callback'            => array( __CLASS__, 'answer' ),
				'permission_callback' => array( __CLASS__, 'allowed' ),
				'args'                => array(
					'after_id' => $number + array( 'default' => 0 ),
					'limit'    => $number + array( 'default' => 1000 ),
				),
			)
		);
	}

	/**
	 * Whether the signature is right and not older than five minutes.
	 *
	 * @param WP_REST_Request $request Request.
	 * @return true|WP_Error
	 */
	public static function allowed( $request ) {
		$id      = (string) $request->get_header( 'webhook-id' );
		$time    = (string) $request->get_header( 'webhook-timestamp' );
		$given   = (string) $request->get_header( 'webhook-signature' );
		$content = sprintf( 'inventory?after_id=%d&limit=%d', $request['after_id'], $request['limit'] );
		if ( '' !== $id && ctype_digit( $time ) && abs( time() - (int) $time ) <= self::WINDOW ) {
			$expected = Sitemapd_Config::sign( $id, (int) $time, $content );
			foreach ( array_slice( explode( ' ', $given ), 0, 8 ) as $one ) {
				if ( hash_equals( $expected, $one ) ) {
					return true;
				}
			}
		}
		return new WP_Error( 'sitemapd_signature', __( 'The signature is missing, wrong or too old.', 'sitemapd' ), array( 'status' => 401 ) );
	}

	/**
	 * One page of the list, by number.
	 *
	 * @param WP_REST_Request $request Request.
	 * @return WP_REST_Response
	 */
	public static function answer( $request ) {
		global $wpdb;
		$limit = min( self::MOST, max( 1, (int) $request['limit'] ) );
		$types = array_diff( array_filter( get_post_types( array( 'public' => true ) ), 'is_post_type_viewable' ), array( 'attachment' ) );
		$marks = implode( ',', array_fill( 0, count( $types ), '%s' ) );
		$rows  = $wpdb->get_results(
			$wpdb->prepare(
				// phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared -- only placeholders.
				"SELECT * FROM $wpdb->posts WHERE ID > %d AND post_status = 'publish' AND post_type IN ($marks) ORDER BY ID LIMIT %d",
				array_merge( array( (int) $request['after_id'] ), array_values( $types ), array( $limit + 1 ) )
			)
		);
		$more = count( $rows ) > $limit;
		$rows = array_slice( $rows, 0, $limit );
		update_post_caches( $rows, 'any', false !== strpos( (string) get_option( 'permalink_structure' ), '%category%' ), false );
		$stated = self::stated( wp_list_pluck( $rows, 'ID' ) );
		$items  = array();
		foreach ( $rows as $row ) {
			$post    = new WP_Post( $row );
			$said    = isset( $stated[ (int) $post->ID ] ) ? $stated[ (int) $post->ID ] : array();
			$items[] = array_merge(
				$said,
				array(
					'id'           => (int) $post->ID,
					'url'          => get_permalink( $post ),
					'type'         => $post->post_type,
					'status'       => $post->post_status,
					'modified_gmt' => str_replace( ' ', 'T', $post->post_modified_gmt ) . 'Z',
					'password'     => '' !== $post->post_password,
				)
			);
		}
		$response = new WP_REST_Response(
			array(
				'home'                => home_url( '/' ),
				'site_url'            => site_url( '/' ),
				'permalink_structure' => (string) get_option( 'permalink_structure' ),
				'system'              => array_filter(
					array(
						'wordpress' => get_bloginfo( 'version' ),
						'seo'       => Sitemapd_Caches::seo_plugin(),
					)
				),
				'seq'                 => Sitemapd_Outbox::last_seq(),
				'items'               => $items,
				'next_after_id'       => $more ? (int) end( $items )['id'] : null,
			)
		);
		$response->header( 'Cache-Control', 'no-store' );
		return $response;
	}

	/**
	 * What SEO plugins were told of some posts: the canonical address that somebody entered, and whether search engines are
	 * to leave the post out. Read with one query for a whole page of the list.
	 *
	 * @param int[] $ids Numbers of posts.
	 * @return array Of arrays with canonical and noindex, by number; posts of which nothing is said are left out.
	 */
	private static function stated( $ids ) {
		global $wpdb;
		$keys = self::meta_keys();
		if ( ! $ids || ! $keys ) {
			return array();
		}
		$stated = array();
		$rows   = $wpdb->get_results(
			$wpdb->prepare(
				// phpcs:ignore WordPress.DB.PreparedSQL.InterpolatedNotPrepared, WordPress.DB.PreparedSQLPlaceholders.UnfinishedPrepare -- only placeholders.
				"SELECT post_id, meta_key, meta_value FROM $wpdb->postmeta WHERE meta_key IN (" . implode( ',', array_fill( 0, count( $keys ), '%s' ) ) . ') AND post_id IN (' . implode( ',', array_fill( 0, count( $ids ), '%d' ) ) . ')',
				array_merge( array_keys( $keys ), array_map( 'intval', $ids ) )
			)
		);
		foreach ( $rows as $row ) {
			$value = (string) $row->meta_value;
			if ( 'canonical' === $keys[ $row->meta_key ] ) {
				if ( '' !== $value ) {
					$stated[ (int) $row->post_id ]['canonical'] = esc_url_raw( $value );
				}
			} elseif ( in_array( $value, array( '1', 'yes' ), true ) || false !== strpos( $value, '"noindex"' ) ) {
				$stated[ (int) $row->post_id ]['noindex'] = true;
			}
		}
		/**
		 * Filters what is said of posts beside their own data.
		 *
		 * @param array $stated Arrays with canonical (string) and noindex (bool), by post number.
		 * @param int[] $ids    The posts asked for.
		 */
		return (array) apply_filters( 'sitemapd_inventory_stated', $stated, $ids );
	}

	/** Where the active SEO plugin keeps canonical and noindex of a post: meta key to what it says. */
	private static function meta_keys() {
		$keys = array(
			'yoast'         => array(
				'_yoast_wpseo_canonical'           => 'canonical',
				'_yoast_wpseo_meta-robots-noindex' => 'noindex',
			),
			'rank_math'     => array(
				'rank_math_canonical_url' => 'canonical',
				'rank_math_robots'        => 'noindex',
			),
			'seopress'      => array(
				'_seopress_robots_canonical' => 'canonical',
				'_seopress_robots_index'     => 'noindex',
			),
			'seo_framework' => array(
				'_genesis_canonical_uri' => 'canonical',
				'_genesis_noindex'       => 'noindex',
			),
		);
		$seo  = Sitemapd_Caches::seo_plugin();
		return isset( $keys[ $seo ] ) ? $keys[ $seo ] : array();
	}
}
