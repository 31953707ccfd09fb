<?php
/**
 * Router of PHP's built-in server: what exists is served, everything else is WordPress' (pretty permalinks).
 */
$root = $_SERVER['DOCUMENT_ROOT'];
$path = rawurldecode( (string) parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH ) );
if ( '/' !== $path && false === strpos( $path, '..' ) ) {
	if ( is_file( $root . $path ) ) {
		return false;
	}
	if ( is_file( $root . rtrim( $path, '/' ) . '/index.php' ) ) {
		if ( '/' !== substr( $path, -1 ) ) {
			header( 'Location: ' . $path . '/', true, 301 );
			return true;
		}
		return false;
	}
}
$_SERVER['SCRIPT_NAME']     = '/index.php';
$_SERVER['PHP_SELF']        = '/index.php';
$_SERVER['SCRIPT_FILENAME'] = $root . '/index.php';
chdir( $root );
require $root . '/index.php';
