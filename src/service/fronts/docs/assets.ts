/**
 * The files of the reference page on workerd: static assets of the Worker, each of them a `DocsFile` as JSON. Assets
 * with the names of the files would have other headers if the platform served them itself, and it redirects `page.html`
 * to `page`.
 */

import { deadlineSignal } from '../../../shared/lib/abort.ts'
import type { DocsFile, ReadDocsFile } from './endpoints.ts'

/** The binding of static assets: https://developers.cloudflare.com/workers/static-assets/binding/ */
export interface Assets {
  fetch(url: string, init: RequestInit): Promise<Response>
}

const READ_TIMEOUT_MS = 5000

/** Path of the asset in the folder that the binding serves. */
export function assetPath(name: string): string {
  return `docs-page/${name}.json`
}

export function isAssets(binding: unknown): binding is Assets {
  return typeof binding === 'object' && binding !== null && 'fetch' in binding && typeof binding.fetch === 'function'
}

/** Reads the files from `assets`, and nothing else that may be there. */
export function readDocsFileFrom(assets: Assets): ReadDocsFile {
  return async (name) => {
    // A name with other characters could lead out of the folder.
    if (!/^[\w.-]+$/.test(name)) return null
    const deadline = deadlineSignal(Date.now() + READ_TIMEOUT_MS)
    try {
      // The host has no meaning.
      const response = await assets.fetch(`https://assets.local/${assetPath(name)}`, { signal: deadline.signal })
      if (isFile(response)) return (await response.json()) as DocsFile
      await response.body?.cancel()
      return null
    } finally {
      deadline.release()
    }
  }
}

/** Assets with `not_found_handling` respond with their own page to a path that they do not have. */
function isFile({ ok, headers }: Response): boolean {
  return ok && headers.get('Content-Type')?.startsWith('text/html') !== true
}
