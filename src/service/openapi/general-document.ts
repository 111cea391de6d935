/** The document without workflows, with every operation. Bundles contain its JSON (`dev/build/baked-openapi.ts`). */
import { VERSION } from '../../version.ts'
import { ENDPOINTS } from '../endpoints.ts'
import { type Tag, templateOf } from '../http/endpoint.ts'
import type { OpenApiDocument } from '../http/openapi/open-api-document.ts'
import { components, SECURITY } from './components.ts'
import { readExamples } from './examples.ts'
import { operationOf } from './operation.ts'

export async function generalDocument(): Promise<OpenApiDocument> {
  const examples = await readExamples()
  const paths: OpenApiDocument['paths'] = {}
  for (const endpoint of ENDPOINTS) {
    const template = templateOf(endpoint.path)
    paths[template] = { ...paths[template], [endpoint.method]: operationOf(endpoint, examples) }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Portico',
      version: VERSION,
      summary: 'A REST service in front of Temporal',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Relative to the URL of this document.
    servers: [{ url: '/' }],
    security: SECURITY,
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: components(examples),
  }
}

const TAGS: Readonly<Record<Tag, string>> = {
  Workflows: 'The published workflows, with the types that their workers publish',
  Start: 'Start workflows',
  Find: 'Find runs',
  Inspect: 'Read the state, the result and the history of runs',
  Messages: 'Send queries, updates and signals to runs',
  Control: 'End and change runs',
  Activities: 'Execute activities without a workflow',
  Schedules: 'Start workflows at certain times',
  Batches: 'Change many runs at once',
  Links: 'Let a person without a credential answer a run once',
  Service: 'The catalog, and the service itself',
}

const DESCRIPTION = `Starts workflows, reads their status and results, sends them messages, and stops them.

- Errors are \`application/problem+json\`. \`error\` is the name of the error; \`x-errors\` lists the names that an operation can return.
- A path without \`/runs/{rid}\` refers to the latest run of the workflow.
- A service can have several namespaces of the engine. The paths of one begin with \`/namespaces/<name>\`, also that of its document; those of this document use the namespace in \`x-catalog\`.
- Requests that wait can be answered with server-sent events (\`Accept: text/event-stream\`); \`x-events\` has the schemas of their data.
- \`HEAD\` is \`GET\` without the body. \`OPTIONS\` lists the methods of a route in \`Allow\`.
- \`x-catalog\` says whose workflows have operations of their own. Their paths have a fragment, which is not sent.`
