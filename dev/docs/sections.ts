/**
 * The generated sections of the documents: what stands between `<!-- generated: <kind> <names> -->` and
 * `<!-- end -->` is made of the OpenAPI document and of the
 * declarations of settings. `npm run docs` writes them, and a test compares.
 */
import { generalDocument } from '../../src/service/openapi/general-document.ts'
import { settingTable } from './setting-tables.ts'
import {
  clientTable,
  endpointList,
  endpointTable,
  errorsOfAny,
  errorTable,
  fieldTable,
  parameterTable,
} from './tables.ts'

const SECTION = /(<!-- generated: ([\w-]+)(.*?) -->\n)(.*?)(?=<!-- end -->)/gs

const KINDS = new Map([
  ['fields', fieldTable],
  ['parameters', parameterTable],
  ['endpoint', endpointTable],
  ['endpoints', endpointList],
  ['errors', errorTable],
  ['client-methods', clientTable],
  ['errors-of-any', errorsOfAny],
  ['settings', settingTable],
])

/** The page with its sections as they should be. `page` is its path below `docs/`, from which links are relative. */
export async function withSections(page: string, text: string): Promise<string> {
  const document = await generalDocument()
  return text.replaceAll(SECTION, (_, start: string, kind: string, names: string) => {
    const table = KINDS.get(kind)
    if (table === undefined) throw new Error(`${page}: there is no generated section "${kind}"`)
    const lines = table(document, names.split(' ').filter(Boolean), '../'.repeat(page.split('/').length - 1))
    return `${start}\n${lines.join('\n')}\n\n`
  })
}
