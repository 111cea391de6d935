/** `GET /docs`: a reference page of the API, and the files that it loads. */
import type { Context } from 'hono'
import { type Constant, constantOf, constantResponse } from '../../http/constant-json.ts'
import type { Env } from '../../http/context.ts'
import { endpoint, type Service } from '../../http/endpoint.ts'
import { notFound } from '../../http/pipeline/unmatched.ts'
import { ServiceError } from '../../model/errors.ts'

/** A file of the reference page. */
export interface DocsFile {
  /** Media type. */
  type: string
  text: string
}

/** Null if no file has this name. */
export type ReadDocsFile = (name: string) => Promise<DocsFile | null>

export interface DocsOptions {
  /** Null where its files are missing. */
  read: ReadDocsFile | null
  /** Whether the reader of the page must enter a token. */
  tokenRequired: boolean
}

// The page loads nothing from other hosts, has nothing inline, and cannot be embedded. Its icons are data URLs.
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS = {
  // A new version of the service has new files with the same names, so browsers must revalidate them.
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
}

const PAGE = 'page.html'

const FILES_MISSING =
  'The files of the reference page are missing. A Cloudflare Worker needs the folder dist/workerd-assets as its static ' +
  'assets, with the binding ASSETS (docs/deployment.md#reference-page)'

/** Responds with files of the reference page, which are read once. */
export function createDocsResponder({ read, tokenRequired }: DocsOptions): Service['respondDocsFile'] {
  const served = new Map<string, Constant & { type: string }>()

  async function load(c: Context<Env>, name: string): Promise<Constant & { type: string }> {
    const { type, text } = (await read?.(name)) ?? missing(c, name)
    const token = tokenRequired ? 'required' : 'none'
    const file = { type, ...(await constantOf(name === PAGE ? text.replace('{{token}}', token) : text)) }
    served.set(name, file)
    return file
  }

  function missing(c: Context<Env>, name: string): never {
    if (read !== null && name !== PAGE) return notFound(c)
    throw new ServiceError('NotSupportedError', FILES_MISSING)
  }

  return async (c, name) => {
    c.get('startWork')()
    const file = served.get(name) ?? (await load(c, name))
    return constantResponse(c, file, { ...HEADERS, 'Content-Type': file.type })
  }
}

const RESPONSE_HEADERS = ['ETag', 'Content-Security-Policy', 'Referrer-Policy', 'X-Content-Type-Options'] as const

// The files need no token, because they contain nothing about this deployment.
const page = endpoint({
  method: 'get',
  path: '/docs',
  id: 'getReferencePage',
  tag: 'Service',
  summary: 'Get a reference page of the API, for browsers',
  docs: 'api/service.md#reference-page',
  headers: ['If-None-Match'],
  responses: {
    200: { description: 'The page', text: ['text/html'], headers: RESPONSE_HEADERS },
    304: { description: 'The client has the page already', headers: RESPONSE_HEADERS },
  },
  errors: ['NotSupportedError', 'OverloadedError'],
  takes: 'work',
  key: 'ignored',
  access: null,
  feature: 'docs',
  isOfService: true,
  handle: (c, { respondDocsFile }) => respondDocsFile(c, PAGE),
})

const pageFile = endpoint({
  method: 'get',
  path: '/docs/:file',
  id: 'getReferencePageFile',
  tag: 'Service',
  summary: 'Get a file that the reference page loads',
  docs: 'api/service.md#reference-page',
  headers: ['If-None-Match'],
  responses: {
    200: { description: 'The file', text: ['text/css', 'text/javascript'], headers: RESPONSE_HEADERS },
    304: { description: 'The client has the file already', headers: RESPONSE_HEADERS },
  },
  errors: ['NotFoundError', 'NotSupportedError', 'OverloadedError'],
  takes: 'work',
  key: 'ignored',
  access: null,
  feature: 'docs',
  isOfService: true,
  handle: (c, { file, respondDocsFile }) => (file(c) === PAGE ? notFound(c) : respondDocsFile(c, file(c))),
})

export const docsEndpoints = [page, pageFile]
