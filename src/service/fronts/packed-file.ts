/** Packs a file of a page: when it is built, or with its first request if the service runs from its source. */
import { gzipSync } from 'node:zlib'
import type { PageFile } from '../http/page-files.ts'

const TYPES = new Map([
  ['html', 'text/html; charset=utf-8'],
  ['css', 'text/css; charset=utf-8'],
  ['js', 'text/javascript; charset=utf-8'],
  ['txt', 'text/plain; charset=utf-8'],
])

export function packedFile(name: string, text: string): PageFile {
  const type = TYPES.get(name.slice(name.lastIndexOf('.') + 1))
  if (type === undefined) throw new TypeError(`${name} has no media type`)
  return { type, base64: gzipSync(text, { level: 9 }).toString('base64') }
}
