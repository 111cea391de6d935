import { ENGINE } from '../errors.ts'
import type { Operation } from '../operation.ts'
import { openApiParameters } from '../parameters.ts'
import { ref } from '../schemas/schema.ts'

const CATALOG_RESPONSES = {
  200: {
    description: 'The workflows of the catalog',
    schema: ref('Catalog'),
    headers: ['ETag'],
  },
  304: { description: 'The client has the catalog already', headers: ['ETag'] },
} as const

const PAGE_HEADERS = [
  'ETag',
  'Cache-Control',
  'Content-Security-Policy',
  'Referrer-Policy',
  'X-Content-Type-Options',
] as const

export const serviceOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/workflow/catalog',
    id: 'getCatalog',
    tag: 'Service',
    summary: 'List the workflows of the default catalog',
    docs: 'catalog',
    headers: ['If-None-Match'],
    responses: CATALOG_RESPONSES,
    errors: [...ENGINE, 'CatalogNotFoundError', 'PayloadCodecError'],
  },
  {
    method: 'get',
    path: '/workflow/catalog/:catalog',
    id: 'getCatalogByName',
    tag: 'Service',
    summary: 'List the workflows of another catalog',
    docs: 'catalog',
    headers: ['If-None-Match'],
    responses: CATALOG_RESPONSES,
    errors: [...ENGINE, 'CatalogNotFoundError', 'PayloadCodecError'],
  },
  {
    method: 'get',
    path: '/openapi.json',
    id: 'getOpenApi',
    tag: 'Service',
    summary: 'Get this document',
    docs: 'openapi',
    query: {
      schema: openApiParameters,
      descriptions: { catalog: 'The catalog whose workflows the document describes. Default: that of the service' },
    },
    headers: ['If-None-Match'],
    responses: {
      200: { description: 'The document', schema: ref('OpenApi'), headers: ['ETag'] },
      304: { description: 'The client has the document already', headers: ['ETag'] },
    },
    errors: [...ENGINE, 'CatalogNotFoundError', 'PayloadCodecError'],
  },
  {
    method: 'get',
    path: '/capabilities',
    id: 'getCapabilities',
    tag: 'Service',
    summary: 'Get version, runtime and features of this deployment',
    docs: 'capabilities',
    responses: {
      200: { description: 'The deployment', schema: ref('Capabilities') },
    },
    errors: ['OverloadedError'],
  },
  {
    method: 'get',
    path: '/health',
    id: 'getHealth',
    tag: 'Service',
    summary: 'Check whether the process runs',
    docs: 'health',
    isPublic: true,
    responses: { 200: { description: 'The process runs', schema: ref('Health') } },
    errors: [],
  },
  {
    method: 'get',
    path: '/ready',
    id: 'getReadiness',
    tag: 'Service',
    summary: 'Check whether the engine can serve requests',
    docs: 'health',
    isPublic: true,
    responses: {
      200: { description: 'It can', schema: ref('Readiness') },
      503: { description: 'It cannot', schema: ref('Readiness') },
    },
    errors: [],
  },
  {
    method: 'get',
    path: '/metrics',
    id: 'getMetrics',
    tag: 'Service',
    summary: 'Get metrics for Prometheus',
    docs: 'endpoints',
    responses: { 200: { description: 'The metrics', text: ['text/plain'] } },
    errors: ['NotSupportedError'],
  },
  {
    method: 'get',
    path: '/docs',
    id: 'getReferencePage',
    tag: 'Service',
    summary: 'Get a reference page of the API, for browsers',
    docs: 'reference-page',
    isPublic: true,
    headers: ['If-None-Match'],
    responses: {
      200: { description: 'The page', text: ['text/html'], headers: PAGE_HEADERS },
      304: { description: 'The client has the page already', headers: PAGE_HEADERS },
    },
    errors: ['NotSupportedError', 'OverloadedError'],
  },
  {
    method: 'get',
    path: '/docs/:file',
    id: 'getReferencePageFile',
    tag: 'Service',
    summary: 'Get a file that the reference page loads',
    docs: 'reference-page',
    isPublic: true,
    headers: ['If-None-Match'],
    responses: {
      200: { description: 'The file', text: ['text/css', 'text/javascript'], headers: PAGE_HEADERS },
      304: { description: 'The client has the file already', headers: PAGE_HEADERS },
    },
    errors: ['NotFoundError', 'NotSupportedError', 'OverloadedError'],
  },
]
