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
        const json = deflateRawSync(text, { level: 9 })
        return `
          export async function generalDocument() {
            const bytes = Uint8Array.from(atob(${JSON.stringify(json.toString('base64'))}), (byte) => byte.charCodeAt(0))
            const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
            return new Response(json).json()
          }`
      },
    },
  }
}
