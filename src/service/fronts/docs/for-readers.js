/** The OpenAPI document as people read it: what matters first, and nothing twice. */

/** The operations of `/runs/{rid}`, which are those of the latest run again. */
export const PINNED = 'One run'

export function forReaders(document) {
  for (const parameter of parametersOf(document)) describeExample(parameter)
  const { info, paths, components, tags = [] } = document
  return {
    ...document,
    // What it describes besides is for generators.
    info: { version: info.version, title: 'Portico API', description: aboutCatalog(document) },
    tags: [...tags, { name: PINNED, description: 'The same requests for one run of a workflow, by its run id' }],
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, item]) => [
        path,
        mapValues(item, (operation) => shown(path, operation, components)),
      ]),
    ),
  }
}

function aboutCatalog({ 'x-catalog': { name, namespace, state } }) {
  const about = `Catalog **${escaped(name)}** in the namespace **${escaped(namespace)}**.`
  if (state === 'described') return about
  return `${about} ${state === 'not_published' ? 'It is not published' : 'It could not be read'}: its workflows are not listed.`
}

/** Names come from workers: in Markdown they are text. */
function escaped(name) {
  return name.replace(/[^\p{L}\p{N} ]/gu, (character) => `&#${character.codePointAt(0)};`)
}

function shown(path, operation, components) {
  const { tags, summary } = operation
  return {
    ...operation,
    tags: path.includes('/runs/{rid}') ? [PINNED] : tags,
    // Swagger UI does not render Markdown there.
    summary: summary.replaceAll('`', ''),
    responses: withShortErrors(operation, components.responses),
  }
}

/** One entry for all errors. Each with its schema, headers and example would fill ten screens. */
function withShortErrors({ responses, 'x-errors': names = [] }, named) {
  const entries = Object.entries(responses)
  const errors = entries.filter(([, { $ref }]) => $ref?.startsWith('#/components/responses/Error'))
  if (errors.length === 0) return responses
  const lines = errors.map(([status, { $ref }]) => {
    // The names of all errors with this status.
    const all = named[$ref.split('/').at(-1)].description.split(', ')
    return `- ${status}: ${all.filter((name) => names.includes(name)).join(', ')}`
  })
  const description = ['Errors are `application/problem+json`, with the name in `error`:', '', ...lines].join('\n')
  return {
    ...Object.fromEntries(
      entries.filter((entry) => !errors.includes(entry)).map(([status, it]) => [status, concise(it)]),
    ),
    default: { description },
  }
}

/** Swagger UI has a table of headers, and a column of links, for each response. */
function concise({ headers: _, links: __, ...response }) {
  return response
}

function parametersOf({ paths, components }) {
  const operations = Object.values(paths).flatMap((item) => Object.values(item))
  return [...operations.flatMap(({ parameters = [] }) => parameters), ...Object.values(components?.parameters ?? {})]
}

/** In the form of an `Idempotency-Key`: stands for a new key with each click. */
export const NEW_KEY = 'new-for-each-click'

/** Swagger UI fills the forms with the examples, and would send them with every request. */
function describeExample(parameter) {
  if (parameter.required || parameter.example === undefined) return
  if (parameter.name === 'Idempotency-Key') {
    parameter.example = NEW_KEY
    return
  }
  parameter.description = `${parameter.description ?? ''} (example: \`${parameter.example}\`)`
  delete parameter.example
}

function mapValues(object, map) {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]))
}
