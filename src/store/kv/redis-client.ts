// Imported dynamically in place of the package itself (decision 020).
export { Redis } from 'ioredis'
