"""The one way to the network: clients with bounds, one TLS context, no redirects."""
