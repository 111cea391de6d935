// A dynamic import of the package itself makes the bundler put its CommonJS interop, and with it node:module, at the start of the service.
export { Redis } from 'ioredis'
