/** The types once more for projects that are CommonJS: to TypeScript each copy is of the kind that the nearest package.json says. */
import { cpSync, writeFileSync } from 'node:fs'

const types = new URL('../../dist/types/', import.meta.url)
const copy = new URL('../../dist/types-cjs/', import.meta.url)

cpSync(types, copy, { recursive: true })
writeFileSync(new URL('package.json', copy), '{ "type": "commonjs" }\n')
