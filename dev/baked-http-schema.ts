/** For bundles: what calls over HTTP know of Temporal's messages, without the package that it is read from. */
import type { Plugin } from 'rolldown'
import { httpSchema } from '../src/engine/transport/http/schema.ts'

export function bakedHttpSchema(): Plugin {
  return {
    name: 'baked-http-schema',
    load: {
      filter: { id: /\/src\/engine\/transport\/http-schema\.ts$/ },
      // Text costs a start nothing until it is parsed, with the first call.
      handler: () => `export const httpSchema = () => JSON.parse(${JSON.stringify(JSON.stringify(httpSchema()))})`,
    },
  }
}
