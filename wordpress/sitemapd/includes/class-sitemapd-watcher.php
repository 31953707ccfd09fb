<?php
/**
 * Notes what a request changes.
 *
 * @package Sitemapd
 */

defined( 'ABSPATH' ) || exit;

/**
 * For every post, term and author that a request touches, keeps how it was before the first touch. Nothing is decided
 * until the request ends: then what was is held against what is (Sitemapd_Events), so any number of saves of one post
 * is one event, and a post that ends as it began is none.
 */
class Sitemapd_Watcher {

	/** More objects than this in one request are counted only: the daemon looks at the whole site then. */
	const MOST = 200;

	/**
	 * Blog id => "post:7" => array( object, id, before, touched, ... ).
	 *
	 * @var array
	 */
	private static $noted = array();

	/**
	 * Blog id => "post:7" => true, for what came after the first MOST.
	 *
	 * @var array
	 */
	private static $more = array();

	/**
	 * Blog id => event type => data.
	 *
	 * @var array
	 */
	private static $site = array();

	/** While a term is deleted its posts are given other terms one by one: that is one change, not a thousand. */
	private static $deleting_term = false;

	/** Options whose change moves, hides or renames pages. */
	const OPTIONS = array(
		'permalink_structure' => 'site.permalinks_changed',
		'category_base'       => 'site.permalinks_changed',
		'tag_base'            => 'site.permalinks_changed',
		'home'                => 'site.address_changed',
		'siteurl'             => 'site.address_changed',
		'blog_public'         => 'site.visibility_changed',
		'show_on_front'       => 'site.front_page_changed',
		'page_on_front'       => 'site.front_page_changed',
		'page_for_posts'      => 'site.front_page_changed',
		'timezone_string'     => 'site.timezone_changed',
		'gmt_offset'          => 'site.timezone_changed',
	);

	/** Hooks. */
	public static function register() {
		// The earliest moment of an update at which the database still holds the old post: a trashed post's slug is
		// changed before pre_post_update. It is a filter, and passes its value on.
		add_filter( 'wp_insert_post_parent', array( __CLASS__, 'before_post' ), 1, 2 );
		add_action( 'transition_post_status', array( __CLASS__, 'touch_post' ), 10, 3 );
		add_action( 'before_delete_post', array( __CLASS__, 'before_delete' ), 1 );
		add_action( 'deleted_post', array( __CLASS__, 'deleted_post' ) );
		add_action( 'set_object_terms', array( __CLASS__, 'set_terms' ), 10, 6 );

		add_action( 'created_term', array( __CLASS__, 'created_term' ), 10, 3 );
		add_action( 'edit_terms', array( __CLASS__, 'before_term' ), 1, 2 );
		add_action( 'edited_term', array( __CLASS__, 'touch_term' ), 10, 3 );
		add_action( 'pre_delete_term', array( __CLASS__, 'before_delete_term' ), 1, 2 );
		add_action( 'delete_term', array( __CLASS__, 'deleted_term' ), 10, 3 );

		add_action( 'profile_update', array( __CLASS__, 'touch_author' ), 10, 2 );
		add_action( 'delete_user', array( __CLASS__, 'before_delete_author' ), 1 );
		add_action( 'deleted_user', array( __CLASS__, 'deleted_author' ) );

		foreach ( array_keys( self::OPTIONS ) as $option ) {
			add_action( 'update_option_' . $option, array( __CLASS__, 'option' ), 10, 3 );
		}
		foreach ( array( 'activated_plugin', 'deactivated_plugin' ) as $hook ) {
			add_action( $hook, array( __CLASS__, 'plugins' ) );
		}
		add_action( 'switch_theme', array( __CLASS__, 'theme' ) );
		add_action( 'import_end', array( __CLASS__, 'import' ) );
		add_action( '_core_updated_successfully', array( __CLASS__, 'core' ) );

		// After the caches of other plugins, which act on shutdown as well.
		add_action( 'shutdown', array( __CLASS__, 'flush' ), 1000 );
	}

	/**
	 * Whether posts of this type have pages of their own. Attachments are left out: their pages are not listed.
	 *
	 * @param string $type Post type.
	 */
	private static function watched( $type ) {
		return $type && 'attachment' !== $type && 'revision' !== $type && is_post_type_viewable( $type );
	}

	/**
	 * The entry of an object in this request, made on first use; null once there are too many.
	 *
	 * @param string   $object post, term or author.
	 * @param int      $id     Its number.
	 * @param callable $before Says how it was; asked only the first time.
	 */
	private static function &note( $object, $id, $before ) {
		static $none = null;
		$blog        = get_current_blog_id();
		$key         = $object . ':' . $id;
		if ( ! isset( self::$noted[ $blog ][ $key ] ) ) {
			if ( isset( self::$noted[ $blog ] ) && count( self::$noted[ $blog ] ) >= self::MOST ) {
				self::$more[ $blog ][ $key ] = true;

				$none = null;
				return $none;
			}
			self::$noted[ $blog ][ $key ] = array(
				'object'  => $object,
				'id'      => (int) $id,
				'before'  => call_user_func( $before ),
				'touched' => false,
			);
		}
		return self::$noted[ $blog ][ $key ];
	}

	/**
	 * A post is about to be written.
	 *
	 * @param int $parent Passed through.
	 * @param int $id     The post; 0 when it is new.
	 */
	public static function before_post( $parent, $id = 0 ) {
		$post = $id ? get_post( $id ) : null;
		// What is not public needs no remembering: touch_post is told its old status.
		if ( $post && self::watched( $post->post_type ) && Sitemapd_Events::public_status( $post->post_status ) ) {
			self::note(
				'post',
				$id,
				function () use ( $post ) {
					return Sitemapd_Events::post_state( $post );
				}
			);
		}
		return $parent;
	}

	/**
	 * A post was written, or published by its schedule.
	 *
	 * @param string  $new_status Status now.
	 * @param string  $old_status Status before.
	 * @param WP_Post $post       The post.
	 */
	public static function touch_post( $new_status, $old_status, $post ) {
		if ( ! $post instanceof WP_Post || ! self::watched( $post->post_type ) || wp_is_post_autosave( $post ) ) {
			return;
		}
		// Neither seen before nor after: an ordinary draft. It is not kept, so that thousands of them cost nothing.
		if ( ! Sitemapd_Events::public_status( $new_status ) && ! Sitemapd_Events::public_status( $old_status ) ) {
			return;
		}
		$before = function () use ( $post, $old_status ) {
			$old              = clone $post;
			$old->post_status = $old_status;
			return Sitemapd_Events::post_state( $old );
		};
		$entry  = &self::note( 'post', $post->ID, $before );
		if ( $entry ) {
			// Terms are set while a new post is written, before anybody says that it is new.
			if ( ! empty( $entry['guessed'] ) ) {
				$entry['before'] = $before();
			}
			$entry['touched'] = true;
			$entry['guessed'] = false;
		}
	}

	/**
	 * A post is about to be deleted for good; its address is still known.
	 *
	 * @param int $id The post.
	 */
	public static function before_delete( $id ) {
		self::before_post( 0, $id );
	}

	/**
	 * A post is gone.
	 *
	 * @param int $id The post.
	 */
	public static function deleted_post( $id ) {
		$blog = get_current_blog_id();
		if ( isset( self::$noted[ $blog ][ 'post:' . $id ] ) ) {
			self::$noted[ $blog ][ 'post:' . $id ]['touched'] = true;
		}
	}

	/**
	 * A post was given other terms without being saved.
	 *
	 * @param int    $id       Post.
	 * @param array  $terms    Not used.
	 * @param array  $tt_ids   Term taxonomy ids now.
	 * @param string $taxonomy Taxonomy.
	 * @param bool   $append   Not used.
	 * @param array  $old      Term taxonomy ids before.
	 */
	public static function set_terms( $id, $terms, $tt_ids, $taxonomy, $append, $old ) {
		sort( $tt_ids );
		sort( $old );
		// phpcs:ignore Universal.Operators.StrictComparisons.LooseEqual -- numbers come as text or as integers.
		if ( self::$deleting_term || $tt_ids == $old || ! is_taxonomy_viewable( $taxonomy ) ) {
			return;
		}
		$post = get_post( $id );
		$key  = 'post:' . $id;
		if ( ! $post || isset( self::$noted[ get_current_blog_id() ][ $key ] ) || ! self::watched( $post->post_type )
			|| ! Sitemapd_Events::public_status( $post->post_status ) ) {
			return;
		}
		self::announce( $post );
		if ( isset( self::$noted[ get_current_blog_id() ][ $key ] ) ) {
			self::$noted[ get_current_blog_id() ][ $key ]['guessed'] = true;
		}
	}

	/**
	 * A term was made.
	 *
	 * @param int    $id       Term.
	 * @param int    $tt_id    Not used.
	 * @param string $taxonomy Taxonomy.
	 */
	public static function created_term( $id, $tt_id, $taxonomy ) {
		self::note_term( $id, $taxonomy, true, true );
	}

	/**
	 * A term is about to change.
	 *
	 * @param int    $id       Term.
	 * @param string $taxonomy Taxonomy.
	 */
	public static function before_term( $id, $taxonomy ) {
		self::note_term( $id, $taxonomy, false, false );
	}

	/**
	 * A term was changed.
	 *
	 * @param int    $id       Term.
	 * @param int    $tt_id    Not used.
	 * @param string $taxonomy Taxonomy.
	 */
	public static function touch_term( $id, $tt_id, $taxonomy ) {
		self::note_term( $id, $taxonomy, false, true );
	}

	/**
	 * A term is about to be deleted.
	 *
	 * @param int    $id       Term.
	 * @param string $taxonomy Taxonomy.
	 */
	public static function before_delete_term( $id, $taxonomy ) {
		self::$deleting_term = true;
		self::note_term( $id, $taxonomy, false, false );
	}

	/**
	 * A term is gone.
	 *
	 * @param int    $id       Term.
	 * @param int    $tt_id    Not used.
	 * @param string $taxonomy Taxonomy.
	 */
	public static function deleted_term( $id, $tt_id, $taxonomy ) {
		self::$deleting_term = false;
		self::note_term( $id, $taxonomy, false, true );
	}

	/**
	 * Keeps how a term was.
	 *
	 * @param int    $id       Term.
	 * @param string $taxonomy Taxonomy.
	 * @param bool   $is_new   It was not there before.
	 * @param bool   $touched  It has changed.
	 */
	private static function note_term( $id, $taxonomy, $is_new, $touched ) {
		if ( ! is_taxonomy_viewable( $taxonomy ) ) {
			return;
		}
		$entry = &self::note(
			'term',
			$id,
			function () use ( $id, $taxonomy, $is_new ) {
				return $is_new ? Sitemapd_Events::no_state() : Sitemapd_Events::term_state( $id, $taxonomy );
			}
		);
		if ( $entry ) {
			$entry['taxonomy'] = $taxonomy;
			$entry['touched']  = $entry['touched'] || $touched;
		}
	}

	/**
	 * A profile was saved; only another address matters.
	 *
	 * @param int     $id  User.
	 * @param WP_User $old The user before.
	 */
	public static function touch_author( $id, $old ) {
		$user = get_userdata( $id );
		if ( ! $user || ! $old || $user->user_nicename === $old->user_nicename ) {
			return;
		}
		$entry = &self::note(
			'author',
			$id,
			function () use ( $id, $old ) {
				return Sitemapd_Events::author_state( $id, $old->user_nicename );
			}
		);
		if ( $entry ) {
			$entry['touched'] = true;
		}
	}

	/**
	 * A user is about to be deleted.
	 *
	 * @param int $id User.
	 */
	public static function before_delete_author( $id ) {
		self::note(
			'author',
			$id,
			function () use ( $id ) {
				return Sitemapd_Events::author_state( $id );
			}
		);
	}

	/**
	 * A user is gone.
	 *
	 * @param int $id User.
	 */
	public static function deleted_author( $id ) {
		$blog = get_current_blog_id();
		if ( isset( self::$noted[ $blog ][ 'author:' . $id ] ) ) {
			self::$noted[ $blog ][ 'author:' . $id ]['touched'] = true;
		}
	}

	/**
	 * A setting changed.
	 *
	 * @param mixed  $old    Value before.
	 * @param mixed  $value  Value now.
	 * @param string $option Its name.
	 */
	public static function option( $old, $value, $option ) {
		if ( (string) $old !== (string) $value ) {
			self::site_event( self::OPTIONS[ $option ] );
		}
	}

	/** A plugin was switched on or off: another one may write the sitemap now. */
	public static function plugins() {
		self::site_event( 'site.plugins_changed' );
	}

	/** Another theme: other post types and templates. */
	public static function theme() {
		self::site_event( 'site.theme_changed' );
	}

	/** An import is over. */
	public static function import() {
		self::site_event( 'site.import_finished' );
	}

	/** WordPress was updated. */
	public static function core() {
		self::site_event( 'site.core_updated' );
	}

	/**
	 * Something that concerns the site as a whole; once a request.
	 *
	 * @param string $type Event type.
	 * @param array  $data What to say with it.
	 */
	public static function site_event( $type, array $data = array() ) {
		self::$site[ get_current_blog_id() ][ $type ] = $data;
	}

	/**
	 * Announces a post although nothing was changed (WP-CLI).
	 *
	 * @param WP_Post $post The post.
	 */
	public static function announce( WP_Post $post ) {
		self::before_post( 0, $post->ID );
		self::touch_post( $post->post_status, $post->post_status, $post );
	}

	/** The request ends: what was noted becomes messages, and those are sent. Never fails into the page. */
	public static function flush() {
		foreach ( self::$more as $blog => $keys ) {
			self::$site[ $blog ]['site.bulk_changed'] = array( 'count' => self::MOST + count( $keys ) );
		}
		$noted       = self::$noted;
		$site        = self::$site;
		self::$noted = array();
		self::$more  = array();
		self::$site  = array();
		try {
			foreach ( array_unique( array_merge( array_keys( $noted ), array_keys( $site ) ) ) as $blog ) {
				$switched = get_current_blog_id() !== $blog && is_multisite() && switch_to_blog( $blog );
				self::flush_site( isset( $noted[ $blog ] ) ? $noted[ $blog ] : array(), isset( $site[ $blog ] ) ? $site[ $blog ] : array() );
				if ( $switched ) {
					restore_current_blog();
				}
			}
		} catch ( Throwable $problem ) {
			// phpcs:ignore WordPress.PHP.DevelopmentFunctions.error_log_error_log -- the one place where it can be seen.
			error_log( 'sitemapd: ' . $problem->getMessage() );
		}
	}

	/**
	 * One site's share of the request.
	 *
	 * @param array $noted Objects.
	 * @param array $site  Site events.
	 */
	private static function flush_site( array $noted, array $site ) {
		if ( ! Sitemapd_Config::ready() ) {
			return;
		}
		$events = isset( $site['site.bulk_changed'] ) ? array() : Sitemapd_Events::build( $noted );
		foreach ( $site as $type => $data ) {
			$events[] = Sitemapd_Events::event( $type, array( 'url' => home_url( '/' ) ) + $data );
		}
		if ( count( $events ) > self::MOST ) {
			$events = array( Sitemapd_Events::event( 'site.bulk_changed', array( 'url' => home_url( '/' ), 'count' => count( $events ) ) ) );
		}
		/**
		 * Filters what is told to the daemon, for example to leave out pages that no sitemap lists.
		 *
		 * @param array[] $events Each with type, timestamp and data.
		 */
		$events = array_values( (array) apply_filters( 'sitemapd_events', $events ) );
		if ( $events ) {
			Sitemapd_Outbox::install();
			Sitemapd_Sender::dispatch( $events );
		}
	}
}
