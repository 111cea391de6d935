import * as z from 'zod'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import type * as workflows from './workflows.ts'

const marked = z.looseObject({ marker: z.string() })
const common = {
  ledger: { input: marked, signals: { apply: {}, finish: {} }, updates: { set: {}, setSlowly: {} } },
  chain: { input: marked },
  echo: { input: marked, output: marked },
  fails: { input: marked },
  steps: { input: marked },
}

/** What the workers publish, one after the other. */
export const CATALOGS = [
  defineCatalog<Partial<typeof workflows>>({ ...common, ledger: { ...common.ledger, queries: { state: {} } } }),
  defineCatalog<Partial<typeof workflows>>({ ...common, seasonal: { input: marked } }),
] as const
