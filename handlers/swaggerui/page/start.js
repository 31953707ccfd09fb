'use strict';
// No validator: it would send the document's address to somebody else.
window.SwaggerUIBundle({
  url: '/api/v1/openapi.json', dom_id: '#ui', deepLinking: true, validatorUrl: null, persistAuthorization: false,
  presets: [window.SwaggerUIBundle.presets.apis], layout: 'BaseLayout', defaultModelsExpandDepth: 0, docExpansion: 'list',
});
