import { type Call, withinCall } from '../model/call.ts'
import { hasErrorName } from '../model/errors.ts'
import type { Description } from '../model/execution.ts'
import type { Ports } from '../ports.ts'
import type { Published } from './catalogs.ts'

/** The catalog of a run, and whether its values must be redacted, because only its workers know which may be shown. */
export async function readPublished(
  { catalogs }: Pick<Ports, 'catalogs'>,
  { catalog }: Pick<Description, 'catalog'>,
  call: Call,
): Promise<{ published: Published | null; redacted: boolean }> {
  try {
    const { value: published } = await withinCall(catalogs.published(catalog), call)
    return { published, redacted: published?.redacted === true }
  } catch (error) {
    // The transport cannot send this name, so nothing is known: the workers may have a `redact` function.
    if (hasErrorName(error, 'NotSupportedError')) return { published: null, redacted: true }
    throw error
  }
}
