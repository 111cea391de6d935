/**
 * Replaces the table of Temporal's HTTP messages by its JSON in bundles,
 * so that they do not include the packages it is derived from.
 */
import { fileURLToPath } from 'node:url'
import type { Plugin } from 'rolldown'
import { httpSchema } from '../../src/service/engine/transport/http/schema.ts'

const SCHEMA_MODULE = fileURLToPath(new URL('../../src/service/engine/transport/http/schema.ts', import.meta.url))

export function bakedHttpSchema(): Plugin {
  return {
    name: 'baked-http-schema',
    load: {
      filter: { id: SCHEMA_MODULE },
      // The string is parsed on the first call, not at start (decision 020).
      handler: () => ({
        code: `export const httpSchema = () => JSON.parse(${JSON.stringify(JSON.stringify(httpSchema()))})`,
        meta: { origins: [fileURLToPath(import.meta.resolve('@temporalio/proto'))] },
      }),
    },
  }
}
