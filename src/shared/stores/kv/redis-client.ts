// Imported dynamically instead of the package itself (decision 020).
export { Redis } from 'ioredis'
