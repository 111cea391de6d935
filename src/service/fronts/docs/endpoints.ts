/** `GET /docs`: a reference page of the API, and the files that it loads. */
import { endpoint } from '../../http/endpoint.ts'
import { fileResponses, OF_FILE, PAGE } from '../../http/page-files.ts'
import { notFound } from '../../http/pipeline/unmatched.ts'

const OF_DOCS = { ...OF_FILE, docs: 'api/service.md#reference-page', feature: 'docs' } as const

const page = endpoint({
  ...OF_DOCS,
  path: '/docs',
  id: 'getReferencePage',
  summary: 'Get a reference page of the API, for browsers',
  responses: fileResponses('text/html'),
  handle: (c, { respondDocsFile }) => respondDocsFile(c, PAGE),
})

const pageFile = endpoint({
  ...OF_DOCS,
  path: '/docs/:file',
  id: 'getReferencePageFile',
  summary: 'Get a file that the reference page loads',
  responses: fileResponses('text/css', 'text/javascript'),
  handle: (c, { file, respondDocsFile }) => (file(c) === PAGE ? notFound(c) : respondDocsFile(c, file(c))),
})

export const docsEndpoints = [page, pageFile]
