import { type Context, Hono } from 'hono'
import { ServiceError } from '../../domain/model/errors.ts'
import { type Constant, constantOf, constantResponse } from '../constant-json.ts'
import type { Env } from '../context.ts'
import { notFound } from '../unmatched.ts'

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

// Nothing comes from another host, nothing is inline, and no other page can embed this one. Its icons are data URLs.
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

/** Needs no token, because it says nothing about this deployment. */
export function isDocsPath(path: string): boolean {
  return path === '/docs' || path.startsWith('/docs/')
}

/** `GET /docs`: a reference page of the API, and the files that it loads. */
export function docs({ read, tokenRequired }: DocsOptions) {
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

  async function respondWith(c: Context<Env>, name: string): Promise<Response> {
    c.get('startWork')()
    const file = served.get(name) ?? (await load(c, name))
    return constantResponse(c, file, { ...HEADERS, 'Content-Type': file.type })
  }

  return new Hono<Env>()
    .get('/docs', (c) => respondWith(c, PAGE))
    .get('/docs/:file', (c) => (c.req.param('file') === PAGE ? notFound(c) : respondWith(c, c.req.param('file'))))
}
