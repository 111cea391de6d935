/** The chart of deploy/helm, rendered by Helm, with the schemas of Kubernetes. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse, parseAllDocuments } from 'yaml'
import * as z from 'zod'
import { ensureHelm, ensureKubernetesSchemas } from '../../dev/servers/components.ts'
import { test as base } from '../support/fixtures.ts'

export const CHART = fileURLToPath(new URL('../../deploy/helm/', import.meta.url))

/** The files of deploy/helm/ci. */
export const EXAMPLES = ['minimal', 'autoscaled', 'full'] as const

const RELEASE = { release_name: 'shop', namespace: 'default' }

/** The oldest that the chart allows, and the newest that the schemas have. */
export const KUBERNETES = ['1.30.0', '1.37.0'] as const

export type Values = Record<string, unknown>

/** An object of Kubernetes. */
const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
})

export type Manifest = z.infer<typeof manifestSchema>

export interface Helm {
  /** What `helm template` prints. Rejects with Helm's error. */
  template(version: 'v3' | 'v4', values: Values): Promise<string>
  /** The errors and warnings of `helm lint`. */
  lint(values: Values): Promise<string[]>
  close(): Promise<void>
}

export const test = base.extend('helm', { scope: 'file' }, async ({ cleanup }): Promise<Helm> => {
  const helm = await startHelm()
  cleanup.defer(() => helm.close())
  return helm
})

async function startHelm(): Promise<Helm> {
  const client = new Client({ name: 'portico-tests', version: '0' })
  await client.connect(new StdioClientTransport({ command: await ensureHelm(), stderr: 'ignore' }))
  const call = async (name: string, args: Values) => {
    const { content, isError } = await client.callTool({ name, arguments: args })
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('')
    if (isError) throw new Error(text)
    return text
  }
  return {
    template: (version, values) =>
      call('helm_template', { ...RELEASE, chart: CHART, values, helm_version: version, kube_version: KUBERNETES[0] }),
    async lint(values) {
      const report = lintSchema.parse(JSON.parse(await call('helm_lint', { paths: [CHART], values })))
      return report.messages.filter(({ severity }) => severity !== 'INFO').map(({ message }) => message)
    },
    close: () => client.close(),
  }
}

/** The objects that Helm makes with these values. */
export async function render(helm: Helm, values: Values, version: 'v3' | 'v4' = 'v4'): Promise<Manifest[]> {
  const documents = parseAllDocuments(await helm.template(version, values)).map((document) => document.toJS())
  return documents.filter((document) => document !== null).map((document) => manifestSchema.parse(document))
}

/** The only object of this kind. */
export function objectOf(manifests: readonly Manifest[], kind: string): Manifest | undefined {
  return manifests.find((manifest) => manifest.kind === kind)
}

export function example(name: string): Values {
  return z.record(z.string(), z.unknown()).parse(parse(textOf(`ci/${name}.yaml`)))
}

export function textOf(path: string): string {
  return readFileSync(join(CHART, path), 'utf8')
}

const lintSchema = z.object({ messages: z.array(z.object({ severity: z.string(), message: z.string() })) })

/** Returns a function that says what is wrong with an object in this version of Kubernetes. */
export async function kubernetesValidator(version: string): Promise<(manifest: Manifest) => Promise<string[]>> {
  const folder = join(await ensureKubernetesSchemas(), `v${version}-local-strict`)
  const schema = async (name: string) => JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'))
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
  ajv.addSchema(await schema('_definitions'))
  return async (manifest) => {
    const validate = ajv.compile(await schema(schemaName(manifest)))
    validate(manifest)
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${manifest.kind} ${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  }
}

/** For example `deployment-apps-v1`, `service-v1`, `ingress-networking-v1`. */
function schemaName({ kind, apiVersion }: Manifest): string {
  const [group = '', version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return [kind.toLowerCase(), group.split('.')[0], version].filter(Boolean).join('-')
}
