/**
 * Copies the types for CommonJS projects. TypeScript reads the module format of each copy from the nearest
 * package.json.
 */
import { cpSync, writeFileSync } from 'node:fs'

const types = new URL('../../dist/types/', import.meta.url)
const copy = new URL('../../dist/types-cjs/', import.meta.url)

cpSync(types, copy, { recursive: true })
writeFileSync(new URL('package.json', copy), '{ "type": "commonjs" }\n')
