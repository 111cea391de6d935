/** The texts of a page's files by their names. */
import { gunzipSync } from 'node:zlib'
import type { ReadPageFile } from '../../src/service/http/page-files.ts'

export async function pageTexts(names: readonly string[], read: ReadPageFile): Promise<Map<string, string>> {
  const files = await Promise.all(names.map(async (name) => [name, await read(name)] as const))
  return new Map(files.map(([name, file]) => [name, gunzipSync(Buffer.from(file?.base64 ?? '', 'base64')).toString()]))
}
