/**
 * In bundles, the part of the OpenAPI document that all services share is compressed JSON, a quarter of its code.
 * `openapi.json` is the same.
 */
import { fileURLToPath } from 'node:url'
import { deflateRawSync } from 'node:zlib'
import type { Plugin } from 'rolldown'
import { generalDocument } from '../../src/service/openapi/general-document.ts'

const MODULE = fileURLToPath(new URL('../../src/service/openapi/general-document.ts', import.meta.url))

export function bakedOpenApi(): Plugin {
  return {
    name: 'baked-openapi',
    load: {
      filter: { id: MODULE },
      async handler() {
        const text = JSON.stringify(await generalDocument())
        this.emitFile({ type: 'asset', fileName: 'openapi.json', source: text })
        const json = deflateRawSync(JSON.stringify(sharing(JSON.parse(text))), { level: 9, memLevel: 9 })
        return `
          export async function generalDocument() {
            const bytes = Uint8Array.from(atob(${JSON.stringify(json.toString('base64'))}), (byte) => byte.charCodeAt(0))
            const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
            const [document, ...shared] = await new Response(json).json()
            const made = []
            function whole(value) {
              if (typeof value === 'string' && value[0] === '${MARK}') {
                const at = Number.parseInt(value.slice(1), 36)
                return (made[at] ??= whole(shared[at]))
              }
              if (typeof value !== 'object' || value === null) return value
              if (Array.isArray(value)) return value.map(whole)
              return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, whole(item)]))
            }
            return whole(document)
          }`
      },
    },
  }
}

const MARK = '~'
// Shorter ones are not worth their mark.
const MIN_SHARED_LENGTH = 16

/**
 * The document, and the values that it has more than once, each replaced by a mark with its place: the compression
 * finds only what repeats within 32 KiB. They are sorted, so that similar ones are near each other.
 */
function sharing(document: unknown): unknown[] {
  const counts = new Map<string, number>()
  function count(value: unknown): void {
    if (!isShareable(value)) return
    const json = JSON.stringify(value)
    if (typeof value === 'string' && value.startsWith(MARK)) throw new Error(`${json} begins with the mark`)
    counts.set(json, (counts.get(json) ?? 0) + 1)
    if (typeof value === 'object' && counts.get(json) === 1) for (const item of Object.values(value)) count(item)
  }
  count(document)
  const shared = [...counts]
    .flatMap(([json, times]) => (times > 1 && json.length >= MIN_SHARED_LENGTH ? [json] : []))
    .sort()
  const places = new Map(shared.map((json, at) => [json, at]))

  function marked(value: unknown): unknown {
    const at = isShareable(value) ? places.get(JSON.stringify(value)) : undefined
    return at === undefined ? withMarks(value) : MARK + at.toString(36)
  }
  function withMarks(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(marked)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, marked(item)]))
  }
  return [withMarks(document), ...shared.map((json) => withMarks(JSON.parse(json)))]
}

function isShareable(value: unknown): value is object | string {
  return typeof value === 'string' || (typeof value === 'object' && value !== null)
}
