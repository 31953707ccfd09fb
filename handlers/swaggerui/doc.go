// Package swaggerui holds the viewer of the API's documentation, Swagger UI, as its
// npm package swagger-ui-dist ships it (Apache-2.0; LICENSE and NOTICE lie beside the
// files, vendor.sh says how they came). It is the viewer that runs under a policy
// without inline scripts, eval and foreign hosts.
//
// It promises that the page needs nothing from elsewhere. It imports nothing of ours.
package swaggerui
