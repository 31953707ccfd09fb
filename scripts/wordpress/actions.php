<?php
/**
 * The actions of driver.php. Each goes through the function that WordPress' own screens call.
 */

/** What is known of one post: number, status, address, when it was last modified. */
function sd_do_post( $id ) {
	clean_post_cache( (int) $id );
	$post = get_post( (int) $id );
	if ( ! $post ) {
		return array( 'id' => (int) $id, 'status' => 'none' );
	}
	return array(
		'id'           => $post->ID,
		'type'         => $post->post_type,
		'status'       => $post->post_status,
		'url'          => get_permalink( $post ),
		'modified_gmt' => $post->post_modified_gmt,
	);
}

/** find first|middle|last|draft [TYPE]: the number of a published post, or of a draft in the middle. */
function sd_do_find( $which = 'middle', $type = 'post' ) {
	global $wpdb;
	$status = 'draft' === $which ? 'draft' : 'publish';
	$ids    = $wpdb->get_col( $wpdb->prepare( "SELECT ID FROM $wpdb->posts WHERE post_type = %s AND post_status = %s ORDER BY ID", $type, $status ) );
	if ( ! $ids ) {
		throw new Exception( "no $status of type $type" );
	}
	$at = array( 'first' => 0, 'middle' => intdiv( count( $ids ), 2 ), 'last' => count( $ids ) - 1, 'draft' => intdiv( count( $ids ), 2 ) );
	return sd_do_post( $ids[ $at[ $which ] ] );
}

/** publish [TITLE] [TYPE] [DATE] [CATEGORY NAME]: a new post, published at once (DATE may lie in the past). */
function sd_do_publish( $title = 'A new post', $type = 'post', $date = '', $category = '' ) {
	$post = array( 'post_title' => $title, 'post_type' => $type, 'post_status' => 'publish', 'post_content' => 'New text.' );
	if ( $date ) {
		$post['post_date'] = $date;
	}
	if ( $category ) {
		require_once ABSPATH . 'wp-admin/includes/taxonomy.php';
		$post['post_category'] = array( sd_need( wp_create_category( $category ) ) );
	}
	return sd_do_post( sd_need( wp_insert_post( $post, true ) ) );
}

/** publish-many COUNT: in one request, as an import does. */
function sd_do_publish_many( $count ) {
	for ( $i = 1; $i <= $count; $i++ ) {
		$last = sd_do_publish( "One of many $i" );
	}
	return $last;
}

/** draft [TITLE]: a new post that is not published. */
function sd_do_draft( $title = 'A new draft' ) {
	return sd_do_post( sd_need( wp_insert_post( array( 'post_title' => $title, 'post_status' => 'draft' ), true ) ) );
}

function sd_update( $id, $fields ) {
	sd_need( wp_update_post( array( 'ID' => (int) $id ) + $fields, true ) );
	return sd_do_post( $id );
}

function sd_do_edit( $id ) {
	return sd_update( $id, array( 'post_content' => 'Edited ' . microtime( true ) ) );
}

/** edit-many COUNT: bulk edit of the first published posts. */
function sd_do_edit_many( $count ) {
	global $wpdb;
	$ids = $wpdb->get_col( $wpdb->prepare( "SELECT ID FROM $wpdb->posts WHERE post_type = 'post' AND post_status = 'publish' ORDER BY ID LIMIT %d", $count ) );
	return array( 'posts' => array_map( 'sd_do_edit', $ids ) );
}

function sd_do_slug( $id, $slug ) {
	return sd_update( $id, array( 'post_name' => $slug ) );
}

function sd_do_parent( $id, $parent ) {
	return sd_update( $id, array( 'post_parent' => (int) $parent ) );
}

function sd_do_status( $id, $status ) {
	return sd_update( $id, array( 'post_status' => $status ) );
}

function sd_do_unpublish( $id ) {
	return sd_do_status( $id, 'draft' );
}

/** publish-draft ID: the date stays what it was when the draft was dated, as in the editor. */
function sd_do_publish_draft( $id ) {
	return sd_do_status( $id, 'publish' );
}

function sd_do_trash( $id ) {
	sd_need( wp_trash_post( (int) $id ) );
	return sd_do_post( $id );
}

/** untrash ID: since WordPress 5.6 a post comes back as a draft. */
function sd_do_untrash( $id ) {
	sd_need( wp_untrash_post( (int) $id ) );
	return sd_do_post( $id );
}

function sd_do_delete( $id ) {
	sd_need( wp_delete_post( (int) $id, true ) );
	return sd_do_post( $id );
}

/** schedule SECONDS [TITLE]: at least sixty, as WordPress publishes at once what is nearer. */
function sd_do_schedule( $seconds, $title = 'A scheduled post' ) {
	$date = gmdate( 'Y-m-d H:i:s', time() + (int) $seconds );
	return sd_do_post(
		sd_need(
			wp_insert_post(
				array(
					'post_title'    => $title,
					'post_status'   => 'future',
					'post_date_gmt' => $date,
					'post_date'     => get_date_from_gmt( $date ),
				),
				true
			)
		)
	);
}

/** time-comes ID: the time of a scheduled post is now, and the scheduler runs. */
function sd_do_time_comes( $id ) {
	global $wpdb;
	$date = gmdate( 'Y-m-d H:i:s' );
	$wpdb->update( $wpdb->posts, array( 'post_date_gmt' => $date, 'post_date' => get_date_from_gmt( $date ) ), array( 'ID' => (int) $id ) );
	clean_post_cache( (int) $id );
	sd_do_cron( 'all' );
	return sd_do_post( $id );
}

/** cron [all]: runs what is due now, or everything that is scheduled; says which hooks ran. */
function sd_do_cron( $all = '' ) {
	if ( ! defined( 'DOING_CRON' ) ) {
		define( 'DOING_CRON', true );
	}
	$ran = array();
	foreach ( _get_cron_array() as $time => $hooks ) {
		if ( $time > time() && 'all' !== $all ) {
			break;
		}
		foreach ( $hooks as $hook => $events ) {
			if ( 0 === strpos( $hook, 'wp_' ) ) {
				continue; // housekeeping that asks the outside world
			}
			foreach ( $events as $event ) {
				if ( $event['schedule'] ) {
					wp_reschedule_event( $time, $event['schedule'], $hook, $event['args'] );
				}
				wp_unschedule_event( $time, $hook, $event['args'] );
				do_action_ref_array( $hook, $event['args'] );
				$ran[] = $hook;
			}
		}
	}
	return array( 'ran' => $ran );
}

function sd_do_term_create( $name, $taxonomy = 'category' ) {
	$term = sd_need( wp_insert_term( $name, $taxonomy ) );
	return array( 'id' => $term['term_id'], 'url' => get_term_link( $term['term_id'], $taxonomy ) );
}

function sd_do_term( $slug, $taxonomy = 'category' ) {
	$term = sd_need( get_term_by( 'slug', $slug, $taxonomy ) );
	return array( 'id' => $term->term_id, 'url' => get_term_link( $term ) );
}

/** term-slug SLUG NEW [TAXONOMY] */
function sd_do_term_slug( $slug, $new, $taxonomy = 'category' ) {
	$term = sd_need( get_term_by( 'slug', $slug, $taxonomy ) );
	$old  = get_term_link( $term );
	sd_need( wp_update_term( $term->term_id, $taxonomy, array( 'slug' => $new ) ) );
	return array( 'id' => $term->term_id, 'url' => get_term_link( $term->term_id, $taxonomy ), 'previous_url' => $old );
}

function sd_do_term_delete( $slug, $taxonomy = 'category' ) {
	$term = sd_need( get_term_by( 'slug', $slug, $taxonomy ) );
	$old  = get_term_link( $term );
	sd_need( wp_delete_term( $term->term_id, $taxonomy ) );
	return array( 'id' => $term->term_id, 'previous_url' => $old );
}

function sd_do_author_slug( $login, $slug ) {
	$user = sd_need( get_user_by( 'login', $login ) );
	$old  = get_author_posts_url( $user->ID );
	sd_need( wp_update_user( array( 'ID' => $user->ID, 'user_nicename' => $slug ) ) );
	return array( 'id' => $user->ID, 'url' => get_author_posts_url( $user->ID ), 'previous_url' => $old );
}

function sd_do_option( $name, $value = null ) {
	if ( null !== $value ) {
		update_option( $name, $value );
	}
	return array( 'name' => $name, 'value' => get_option( $name ) );
}

function sd_do_timezone( $zone ) {
	update_option( 'gmt_offset', '' );
	return sd_do_option( 'timezone_string', $zone );
}

/** meta POST KEY VALUE: what an SEO plugin stores of a post. */
function sd_do_meta( $id, $key, $value ) {
	update_post_meta( (int) $id, $key, $value );
	return array();
}

function sd_do_permalink( $structure ) {
	global $wp_rewrite;
	$wp_rewrite->set_permalink_structure( $structure );
	$wp_rewrite->flush_rules( false );
	return array( 'structure' => get_option( 'permalink_structure' ) );
}

/** ping-sites URL: Settings > Writing > Update Services. */
function sd_do_ping_sites( $url ) {
	return sd_do_option( 'ping_sites', $url );
}

/** plugin on|off FILE */
function sd_do_plugin( $to, $file = 'sitemapd/sitemapd.php' ) {
	require_once ABSPATH . 'wp-admin/includes/plugin.php';
	if ( 'on' === $to ) {
		$problem = activate_plugin( $file );
		if ( is_wp_error( $problem ) ) {
			throw new Exception( $problem->get_error_message() );
		}
	} else {
		deactivate_plugins( $file );
	}
	return array( 'active' => is_plugin_active( $file ) );
}

/** app-password: of the administrator, for REST requests. */
function sd_do_app_password() {
	$made = sd_need( WP_Application_Passwords::create_new_application_password( 1, array( 'name' => 'test ' . microtime( true ) ) ) );
	return array( 'user' => 'admin', 'password' => $made[0] );
}

/**
 * list: what this WordPress says should be listed, from its own database and address functions (not from its sitemap).
 * lastmod is absent where WordPress declares none: everything before 6.5, and terms and authors in every version.
 */
function sd_do_list() {
	global $wpdb;
	$dated = version_compare( get_bloginfo( 'version' ), '6.5', '>=' );
	$types = array_values( array_diff( array_filter( get_post_types( array( 'public' => true ) ), 'is_post_type_viewable' ), array( 'attachment' ) ) );
	$urls  = array();
	$rows  = $wpdb->get_results( "SELECT * FROM $wpdb->posts WHERE post_status = 'publish' AND post_type IN ('" . implode( "','", array_map( 'esc_sql', $types ) ) . "') ORDER BY ID" );
	update_post_caches( $rows, 'any', true, false );
	foreach ( $rows as $row ) {
		$post   = new WP_Post( $row );
		$urls[] = array( 'url' => get_permalink( $post ) ) + sd_modified( $post->post_modified_gmt, $dated );
	}
	if ( 'posts' === get_option( 'show_on_front' ) ) {
		$newest = $wpdb->get_var(
			$wpdb->prepare(
				"SELECT MAX(post_modified_gmt) FROM (SELECT post_modified_gmt FROM $wpdb->posts WHERE post_type = 'post' AND post_status = 'publish' ORDER BY post_date DESC LIMIT %d) shown",
				get_option( 'posts_per_page' )
			)
		);
		$urls[] = array( 'url' => home_url( '/' ) ) + ( $newest ? sd_modified( $newest, $dated ) : array() );
	}
	foreach ( array_filter( get_taxonomies( array( 'public' => true ) ), 'is_taxonomy_viewable' ) as $taxonomy ) {
		$terms = $wpdb->get_col( $wpdb->prepare( "SELECT term_id FROM $wpdb->term_taxonomy WHERE taxonomy = %s AND count > 0", $taxonomy ) );
		foreach ( $terms as $term ) {
			$urls[] = array( 'url' => get_term_link( (int) $term, $taxonomy ) );
		}
	}
	// Pages make an author until 6.1 and no longer in 6.4.
	$authored = version_compare( get_bloginfo( 'version' ), '6.2', '<' ) ? $types : array_diff( $types, array( 'page' ) );
	foreach ( $wpdb->get_col( "SELECT DISTINCT post_author FROM $wpdb->posts WHERE post_status = 'publish' AND post_type IN ('" . implode( "','", array_map( 'esc_sql', $authored ) ) . "')" ) as $author ) {
		$urls[] = array( 'url' => get_author_posts_url( (int) $author ) );
	}
	return array( 'version' => get_bloginfo( 'version' ), 'urls' => $urls );
}

function sd_modified( $gmt, $dated ) {
	$known = array( 'modified_gmt' => str_replace( ' ', 'T', $gmt ) . 'Z' );
	return $dated ? $known + array( 'lastmod' => $known['modified_gmt'] ) : $known;
}

/** count: published posts and pages. */
function sd_do_count() {
	global $wpdb;
	return array( 'value' => (int) $wpdb->get_var( "SELECT COUNT(*) FROM $wpdb->posts WHERE post_status = 'publish' AND post_type IN ('post', 'page')" ) );
}
