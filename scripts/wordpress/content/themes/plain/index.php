<!DOCTYPE html>
<html <?php language_attributes(); ?>>
<head><meta charset="utf-8"><title><?php echo esc_html( wp_get_document_title() ); ?></title><?php wp_head(); ?></head>
<body>
<?php
while ( have_posts() ) {
	the_post();
	the_title( '<h1>', '</h1>' );
	the_content();
}
wp_footer();
?>
</body>
</html>
