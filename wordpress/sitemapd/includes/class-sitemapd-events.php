<?php
/**
 * From "how it was" and "how it is" to events, and from events to messages.
 *
 * @package Sitemapd
 */

defined( 'ABSPATH' ) || exit;

/**
 * A state is array( listed, url, status ), of posts their type as well. `listed` means: anybody may read it, so a sitemap may name it.
 */
class Sitemapd_Events {

	/** Children of a page or term that moved are named one by one up to this many. */
	const CHILDREN = 100;

	/** A message stays well below the 64 KiB that the daemon reads. */
	const BATCH_EVENTS = 50;
	const BATCH_BYTES  = 32768;

	/** The state of what does not exist. */
	public static function no_state() {
		return array(
			'listed' => false,
			'url'    => '',
			'status' => 'none',
			'type'   => '',
		);
	}

	/**
	 * Whether posts of a status are open to everybody.
	 *
	 * @param string $status Post status.
	 */
	public static function public_status( $status ) {
		$object = get_post_status_object( $status );
		return $object && $object->public;
	}

	/**
	 * State of a post as the object holds it.
	 *
	 * @param WP_Post $post Post, possibly as it was before.
	 */
	public static function post_state( $post ) {
		$listed = self::public_status( $post->post_status );
		return array(
			'listed' => $listed,
			'url'    => $listed ? (string) get_permalink( $post ) : '',
			'status' => $post->post_status,
			'type'   => $post->post_type,
		);
	}

	/**
	 * State of a term in the database.
	 *
	 * @param int    $id       Term.
	 * @param string $taxonomy Its taxonomy.
	 */
	public static function term_state( $id, $taxonomy ) {
		$term = get_term( $id, $taxonomy );
		$url  = $term instanceof WP_Term ? get_term_link( $term ) : null;
		if ( ! is_string( $url ) ) {
			return self::no_state();
		}
		return array(
			'listed' => $term->count > 0,
			'url'    => $url,
			'status' => 'term',
		);
	}

	/**
	 * State of an author's page.
	 *
	 * @param int         $id       User.
	 * @param string|null $nicename The slug to use; null for the present one.
	 */
	public static function author_state( $id, $nicename = null ) {
		if ( ! get_userdata( $id ) ) {
			return self::no_state();
		}
		return array(
			'listed' => (int) count_user_posts( $id, 'post', true ) > 0,
			'url'    => get_author_posts_url( $id, null === $nicename ? '' : $nicename ),
			'status' => 'author',
		);
	}

	/**
	 * One event.
	 *
	 * @param string $type As in docs/wordpress-plugin.md.
	 * @param array  $data Its data; empty values are left out.
	 */
	public static function event( $type, array $data ) {
		return array(
			'type'      => $type,
			'timestamp' => gmdate( 'Y-m-d\TH:i:s\Z' ),
			'data'      => array_filter(
				$data,
				function ( $value ) {
					return '' !== $value && null !== $value && false !== $value;
				}
			),
		);
	}

	/**
	 * The events of everything that a request touched.
	 *
	 * @param array $noted Entries of Sitemapd_Watcher.
	 * @return array[] Without sequence numbers.
	 */
	public static function build( array $noted ) {
		$events = array();
		foreach ( $noted as $entry ) {
			if ( $entry['touched'] ) {
				$events = array_merge( $events, self::of( $entry ) );
			}
		}
		return $events;
	}

	/**
	 * The events of one object: usually one, none when it was and is not listed, more when children moved with it.
	 *
	 * @param array $entry Entry of Sitemapd_Watcher.
	 */
	private static function of( array $entry ) {
		$before = $entry['before'];
		switch ( $entry['object'] ) {
			case 'post':
				$post = get_post( $entry['id'] );
				return self::of_post( $entry['id'], $post, $before, $post ? self::post_state( $post ) : self::no_state() );
			case 'term':
				$after = self::term_state( $entry['id'], $entry['taxonomy'] );
				$data  = array(
					'term_id'  => $entry['id'],
					'taxonomy' => $entry['taxonomy'],
				);
				$names = array( 'term.created', 'term.updated', 'term.deleted' );
				return self::compare( $names, $before, $after, $data, self::term_children( $entry['id'], $entry['taxonomy'], $before, $after ) );
			default:
				$names = array( 'site.author_created', 'site.author_updated', 'site.author_deleted' );
				return self::compare( $names, $before, self::author_state( $entry['id'] ), array( 'user_id' => $entry['id'] ), array() );
		}
	}

	/**
	 * Events of a term or an author: a sitemap says of them only that they are there, so only that and their address count.
	 *
	 * @param string[] $names    Types for: came, moved, went.
	 * @param array    $before   State.
	 * @param array    $after    State.
	 * @param array    $data     What to say with it.
	 * @param array[]  $children Events of what moved along.
	 */
	private static function compare( array $names, array $before, array $after, array $data, array $children ) {
		if ( ! $before['listed'] && $after['listed'] ) {
			return array( self::event( $names[0], array( 'url' => $after['url'] ) + $data ) );
		}
		if ( $before['listed'] && ! $after['listed'] ) {
			return array( self::event( $names[2], array( 'url' => $before['url'] ) + $data ) );
		}
		if ( $before['url'] === $after['url'] || '' === $before['url'] || '' === $after['url'] ) {
			return array();
		}
		// An empty term is not listed, its children may be.
		$moved = $before['listed'] ? array(
			self::event(
				$names[1],
				array(
					'url'          => $after['url'],
					'previous_url' => $before['url'],
				) + $data
			),
		) : array();
		return array_merge( $moved, $children );
	}

	/**
	 * Events of a post.
	 *
	 * @param int          $id     Post.
	 * @param WP_Post|null $post   As it is now.
	 * @param array        $before State.
	 * @param array        $after  State.
	 */
	private static function of_post( $id, $post, array $before, array $after ) {
		if ( ! $before['listed'] && ! $after['listed'] ) {
			return array();
		}
		$data = array(
			'post_id'         => $id,
			'post_type'       => $post ? $post->post_type : $before['type'],
			'status'          => $after['status'],
			'previous_status' => $before['status'] === $after['status'] ? '' : $before['status'],
		);
		if ( $post ) {
			$data['modified_gmt'] = str_replace( ' ', 'T', $post->post_modified_gmt ) . 'Z';
			$data['password']     = '' !== $post->post_password;
		}
		if ( ! $after['listed'] ) {
			return array( self::event( $post ? 'post.unpublished' : 'post.deleted', array( 'url' => $before['url'] ) + $data ) );
		}
		$moved  = $before['listed'] && $before['url'] !== $after['url'];
		$events = array(
			self::event(
				$before['listed'] ? 'post.updated' : 'post.published',
				array(
					'url'          => $after['url'],
					'previous_url' => $moved ? $before['url'] : '',
				) + $data
			),
		);
		return $moved && is_post_type_hierarchical( $post->post_type ) ? array_merge( $events, self::post_children( $post, $before, $after ) ) : $events;
	}

	/**
	 * Pages below a page that moved: their addresses changed with it, and WordPress tells nobody.
	 *
	 * @param WP_Post $parent The page.
	 * @param array   $before State.
	 * @param array   $after  State.
	 */
	private static function post_children( $parent, array $before, array $after ) {
		$events = array();
		$level  = array( $parent->ID );
		while ( $level && count( $events ) < self::CHILDREN ) {
			$children = get_posts(
				array(
					'post_type'       => $parent->post_type,
					'post_status'     => 'publish',
					'post_parent__in' => $level,
					'numberposts'     => self::CHILDREN,
					'orderby'         => 'ID',
				)
			);
			$level    = array();
			foreach ( $children as $child ) {
				$level[]  = $child->ID;
				$events[] = self::moved_along(
					'post.updated',
					(string) get_permalink( $child ),
					$before,
					$after,
					array(
						'post_id'      => $child->ID,
						'post_type'    => $child->post_type,
						'status'       => $child->post_status,
						'modified_gmt' => str_replace( ' ', 'T', $child->post_modified_gmt ) . 'Z',
					)
				);
			}
		}
		return array_filter( $events );
	}

	/**
	 * Terms below a term that moved.
	 *
	 * @param int    $id       Term.
	 * @param string $taxonomy Its taxonomy.
	 * @param array  $before   State.
	 * @param array  $after    State.
	 */
	private static function term_children( $id, $taxonomy, array $before, array $after ) {
		$events = array();
		if ( $before['url'] === $after['url'] || '' === $after['url'] || ! is_taxonomy_hierarchical( $taxonomy ) ) {
			return $events;
		}
		foreach ( array_slice( (array) get_term_children( $id, $taxonomy ), 0, self::CHILDREN ) as $child ) {
			$state = self::term_state( $child, $taxonomy );
			if ( $state['listed'] ) {
				$events[] = self::moved_along(
					'term.updated',
					$state['url'],
					$before,
					$after,
					array(
						'term_id'  => $child,
						'taxonomy' => $taxonomy,
					)
				);
			}
		}
		return array_filter( $events );
	}

	/**
	 * The event of a child whose address begins with its parent's; null when it does not.
	 *
	 * @param string $type   Event type.
	 * @param string $url    The child's address now.
	 * @param array  $before The parent's state.
	 * @param array  $after  The parent's state.
	 * @param array  $data   What to say with it.
	 */
	private static function moved_along( $type, $url, array $before, array $after, array $data ) {
		if ( 0 !== strpos( $url, $after['url'] ) ) {
			return null;
		}
		$data = array(
			'url'          => $url,
			'previous_url' => $before['url'] . substr( $url, strlen( $after['url'] ) ),
		) + $data;
		return self::event( $type, $data );
	}

	/**
	 * Numbers events and packs them into messages: one event as it is, several as a batch.
	 *
	 * @param array[]  $events Events.
	 * @param string[] $purged Sitemap caches that were emptied.
	 * @return array[] array( body, first_seq, events, summary ).
	 */
	public static function pack( array $events, array $purged ) {
		$seq      = Sitemapd_Outbox::reserve( count( $events ) );
		$messages = array();
		$batch    = array();
		$size     = 0;
		foreach ( $events as $event ) {
			$event['data']['seq'] = $seq++;
			if ( $purged ) {
				$event['data']['purged'] = $purged;
			}
			$length = strlen( (string) wp_json_encode( $event ) );
			if ( $batch && ( count( $batch ) >= self::BATCH_EVENTS || $size + $length > self::BATCH_BYTES ) ) {
				$messages[] = self::message( $batch );
				$batch      = array();
				$size       = 0;
			}
			$batch[] = $event;
			$size   += $length;
		}
		if ( $batch ) {
			$messages[] = self::message( $batch );
		}
		return $messages;
	}

	/**
	 * One message.
	 *
	 * @param array[] $events One event or more.
	 */
	private static function message( array $events ) {
		$first   = $events[0];
		$summary = $first['type'] . ' ' . ( isset( $first['data']['url'] ) ? $first['data']['url'] : '' );
		$body    = $first;
		if ( count( $events ) > 1 ) {
			$body     = array(
				'type'      => 'batch',
				'timestamp' => $first['timestamp'],
				'data'      => array( 'events' => $events ),
			);
			$summary .= ' (+' . ( count( $events ) - 1 ) . ')';
		}
		return array(
			'body'      => wp_json_encode( $body, JSON_UNESCAPED_SLASHES ),
			'first_seq' => $first['data']['seq'],
			'events'    => count( $events ),
			'summary'   => $summary,
		);
	}
}
