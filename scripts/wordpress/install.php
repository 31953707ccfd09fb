<?php
/**
 * Sets a site up and fills it: `install POSTS`.
 *
 * POSTS published posts spread over the years, a draft among every fifty of them (so that its number lies in the
 * middle), pages with children, categories, tags and authors. With 0 the site has three pages and no post at all.
 */

function sd_do_install( $posts = 0 ) {
	global $wpdb;
	require_once ABSPATH . 'wp-admin/includes/upgrade.php';
	require_once ABSPATH . 'wp-admin/includes/taxonomy.php';
	$wpdb->hide_errors();
	$started = microtime( true );
	wp_install( 'Test site', 'admin', 'admin@example.org', true, '', 'password' );
	wp_set_current_user( 1 );
	update_option( 'timezone_string', 'Europe/Berlin' );
	update_option( 'template', 'plain' );
	update_option( 'stylesheet', 'plain' );
	global $wp_rewrite;
	$wp_rewrite->init();
	$wp_rewrite->set_permalink_structure( '/%postname%/' );
	// The types were registered before there were pretty addresses, so the rules made now would know no archives. WordPress
	// makes them anew at the first request that finds none.
	delete_option( 'rewrite_rules' );
	foreach ( get_posts( array( 'post_type' => array( 'post', 'page' ), 'post_status' => 'any', 'numberposts' => -1 ) ) as $sample ) {
		wp_delete_post( $sample->ID, true );
	}
	$installed = microtime( true );
	sd_seed_pages( $posts > 0 ? 12 : 3 );
	if ( $posts > 0 ) {
		sd_seed_posts( (int) $posts );
	}
	return array(
		'version'         => get_bloginfo( 'version' ),
		'install_seconds' => round( $installed - $started, 2 ),
		'posts_seconds'   => round( microtime( true ) - $installed, 2 ),
	);
}

function sd_seed_pages( $count ) {
	$parent = 0;
	for ( $i = 1; $i <= $count; $i++ ) {
		$id = sd_need(
			wp_insert_post(
				array(
					'post_type'    => 'page',
					'post_status'  => 'publish',
					'post_title'   => "Page $i",
					'post_content' => "The text of page $i.",
					'post_parent'  => $i % 4 > 1 ? $parent : 0, // pages 2 and 3 below 1, 6 and 7 below 5, ...
					'post_date'    => sprintf( '2018-03-%02d 08:00:00', $i ),
				),
				true
			)
		);
		if ( 1 === $i % 4 ) {
			$parent = $id;
		}
	}
}

function sd_seed_posts( $count ) {
	global $wpdb;
	$authors = array( 1 );
	foreach ( array( 'Ada', 'Grace', 'Zoë' ) as $name ) {
		$authors[] = sd_need(
			wp_insert_user(
				array(
					'user_login' => sanitize_user( remove_accents( strtolower( $name ) ) ),
					'user_pass'  => 'password',
					'user_email' => remove_accents( strtolower( $name ) ) . '@example.org',
					'role'       => 'editor',
				)
			)
		);
	}
	$categories = array();
	for ( $i = 1; $i <= 30; $i++ ) {
		$categories[] = sd_need( wp_insert_term( "Category $i", 'category' ) )['term_id'];
	}
	// Counting terms once at the end and one transaction for all is what makes thousands of posts a matter of seconds.
	wp_defer_term_counting( true );
	wp_suspend_cache_invalidation( true );
	$wpdb->query( 'START TRANSACTION' );
	$first = strtotime( '2019-01-01 06:00:00 UTC' );
	for ( $i = 1; $i <= $count; $i++ ) {
		$post = array(
			'post_status'   => 'publish',
			'post_title'    => 0 === $i % 97 ? "日本語 $i" : "Post number $i",
			'post_content'  => "The text of post $i. It says what it says.",
			'post_date'     => gmdate( 'Y-m-d H:i:s', $first + $i * 43200 % 220000000 + $i ),
			'post_author'   => $authors[ $i % count( $authors ) ],
			'post_category' => array( $categories[ $i % count( $categories ) ] ),
			'tags_input'    => 0 === $i % 5 ? array( 'Tag ' . ( $i % 40 ) ) : array(),
			'post_password' => 0 === $i % 500 ? 'secret' : '',
		);
		sd_need( wp_insert_post( $post, true ) );
		if ( 0 === $i % 50 ) {
			$post['post_status'] = 'draft';
			$post['post_title']  = "Old draft $i";
			sd_need( wp_insert_post( $post, true ) );
			wp_cache_flush();
		}
	}
	$wpdb->query( 'COMMIT' );
	wp_suspend_cache_invalidation( false );
	wp_cache_flush();
	wp_defer_term_counting( false );
}
