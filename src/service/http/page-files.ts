/** Pages for browsers whose files come from the service itself: the reference page and the console. */
import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import { fromBase64 } from '../../shared/lib/base64.ts'
import { type Bytes, joined, sha256, toBytes } from '../../shared/lib/digest.ts'
import { ServiceError } from '../model/errors.ts'
import { constantResponse } from './constant-json.ts'
import type { Env } from './context.ts'
import type { ResponseHeader } from './openapi/headers.ts'
import { notFound } from './pipeline/unmatched.ts'

export interface PageFile {
  /** Media type. */
  type: string
  /** Its text, compressed with gzip. */
  base64: string
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

/** As it is, not encoded. */
const PLAIN = 'identity'

const PAGE_HEADERS = ['ETag', 'Vary', ...Object.keys(HEADERS)] as ResponseHeader[]

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
    200: { description: 'The file', text, headers: [...PAGE_HEADERS, 'Content-Encoding'] as const },
    304: { description: 'The client has it', headers: PAGE_HEADERS },
  }
}

interface Served {
  type: string
  plain: Bytes
  packed: Bytes
  /** Weak, because it is that of both. */
  etag: string
}

/**
 * Responds with files of a page, which are read once. `read`: null where they are missing. `tokenRequired`: whether the
 * reader of the page must enter a token.
 */
export function createPageResponder(read: ReadPageFile | null, tokenRequired: boolean): RespondPageFile {
  const token = tokenRequired ? 'required' : 'none'
  const served = new Map<string, Served>()

  async function load(c: Context<Env>, name: string): Promise<Served> {
    const { type, base64 } = (await read?.(name)) ?? absent(c, name)
    const stored = fromBase64(base64)
    const text = await through(new DecompressionStream('gzip'), stored)
    const plain = name === PAGE ? toBytes(new TextDecoder().decode(text).replace('{{token}}', token)) : text
    const packed = name === PAGE ? await through(new CompressionStream('gzip'), plain) : stored
    const file = { type, plain, packed, etag: `W/"${await sha256(plain)}"` }
    served.set(name, file)
    return file
  }

  function absent(c: Context<Env>, name: string): never {
    if (read !== null && name !== PAGE) return notFound(c)
    throw new ServiceError('NotSupportedError', FILES_MISSING)
  }

  return async (c, name) => {
    c.get('startWork')()
    const { type, plain, packed, etag } = served.get(name) ?? (await load(c, name))
    const encoding = accepts(c, { header: 'Accept-Encoding', supports: ['gzip', PLAIN], default: PLAIN })
    const { Vary: ofCors } = c.get('headers')
    const headers = { ...HEADERS, Vary: ofCors === undefined ? 'Accept-Encoding' : `${ofCors}, Accept-Encoding` }
    return encoding === PLAIN
      ? constantResponse(c, { body: plain, etag }, { 'Content-Type': type }, headers)
      : constantResponse(c, { body: packed, etag }, { 'Content-Type': type, 'Content-Encoding': encoding }, headers)
  }
}

async function through(transform: CompressionStream, bytes: Bytes): Promise<Bytes> {
  const parts: Bytes[] = []
  for await (const part of new Blob([bytes]).stream().pipeThrough(transform)) parts.push(part)
  return joined(parts)
}
