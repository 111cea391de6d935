/** Pages for browsers whose files come from the service itself: the reference page and the console. */
import type { Context } from 'hono'
import { ServiceError } from '../model/errors.ts'
import { type Constant, constantOf, constantResponse } from './constant-json.ts'
import type { Env } from './context.ts'
import type { ResponseHeader } from './openapi/headers.ts'
import { notFound } from './pipeline/unmatched.ts'

export interface PageFile {
  /** Media type. */
  type: string
  text: string
}

/** Null if no file has this name. */
export type ReadPageFile = (name: string) => Promise<PageFile | null>

/** The response to a request for a file of a page. */
export type RespondPageFile = (c: Context<Env>, name: string) => Promise<Response>

/** The file that contains `{{token}}`. It has no address of its own. */
export const PAGE = 'page.html'

const FILES_MISSING =
  'The files of the page are missing. A Cloudflare Worker needs the assets dist/workerd-assets, ' +
  'with the binding ASSETS (docs/deployment.md#reference-page)'

// The page loads nothing from other hosts, has nothing inline, and cannot be embedded. Its icons are data URLs.
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const HEADERS = {
  // A new version of the service has new files with the same names, so browsers must revalidate them.
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

const PAGE_HEADERS = ['ETag', ...Object.keys(HEADERS)] as ResponseHeader[]

/** What is said about each endpoint of a page. Its files need no token: they say nothing about this deployment. */
export const OF_PAGE = {
  method: 'get',
  tag: 'Service',
  takes: 'work',
  key: 'ignored',
  access: null,
  isOfService: true,
} as const

/** The same of an endpoint that responds with a file. */
export const OF_FILE = {
  ...OF_PAGE,
  headers: ['If-None-Match'],
  errors: ['NotFoundError', 'NotSupportedError', 'OverloadedError'],
} as const

export function fileResponses(...text: string[]) {
  return {
    200: { description: 'The file', text, headers: PAGE_HEADERS },
    304: { description: 'The client has it', headers: PAGE_HEADERS },
  }
}

/**
 * Responds with files of a page, which are read once. `read`: null where they are missing. `tokenRequired`: whether the
 * reader of the page must enter a token.
 */
export function createPageResponder(read: ReadPageFile | null, tokenRequired: boolean): RespondPageFile {
  const served = new Map<string, Constant & { type: string }>()

  async function load(c: Context<Env>, name: string): Promise<Constant & { type: string }> {
    const { type, text } = (await read?.(name)) ?? absent(c, name)
    const token = tokenRequired ? 'required' : 'none'
    const file = { type, ...(await constantOf(name === PAGE ? text.replace('{{token}}', token) : text)) }
    served.set(name, file)
    return file
  }

  function absent(c: Context<Env>, name: string): never {
    if (read !== null && name !== PAGE) return notFound(c)
    throw new ServiceError('NotSupportedError', FILES_MISSING)
  }

  return async (c, name) => {
    c.get('startWork')()
    const file = served.get(name) ?? (await load(c, name))
    return constantResponse(c, file, { ...HEADERS, 'Content-Type': file.type })
  }
}
