/** Which workflows the worker's bundle exports. The SDK keeps neither the bundle nor this list. */
import { readFile } from 'node:fs/promises'
import vm from 'node:vm'
import type { Worker, WorkerOptions } from '@temporalio/worker'

type BundlerOptions = NonNullable<WorkerOptions['bundlerOptions']>
type WebpackConfig = Parameters<NonNullable<BundlerOptions['webpackConfigHook']>>[0]

// Each belongs to the worker whose options contain the key.
const bundles = new WeakMap<object, { code: string | null }>()

/** Options with which `exportsOf` knows the bundle that the SDK makes of `workflowsPath`. */
export function keepBundle(options: WorkerOptions): WorkerOptions {
  if (options.workflowsPath === undefined || options.workflowBundle !== undefined) return options
  const bundle: { code: string | null } = { code: null }
  const hook = options.bundlerOptions?.webpackConfigHook
  const bundlerOptions: BundlerOptions = {
    ...options.bundlerOptions,
    webpackConfigHook: (config) => withEmitted(hook?.(config) ?? config, bundle),
  }
  bundles.set(bundlerOptions, bundle)
  return { ...options, bundlerOptions }
}

function withEmitted(config: WebpackConfig, bundle: { code: string | null }): WebpackConfig {
  const plugin: NonNullable<WebpackConfig['plugins']>[number] = {
    apply(compiler) {
      compiler.hooks.assetEmitted.tap('portico', (file, { content }) => {
        if (file.endsWith('.js')) bundle.code = content.toString()
      })
    },
  }
  return { ...config, plugins: [...(config.plugins ?? []), plugin] }
}

/** The names of the exported functions; null if they are not known. */
export async function exportsOf(worker: Worker): Promise<string[] | null> {
  try {
    const code = await codeOf(worker)
    return code === null ? null : functionsIn(code)
  } catch {
    // The modules need what only a running workflow has. The names are only for warnings.
    return null
  }
}

async function codeOf({ options: { workflowBundle, bundlerOptions } }: Worker): Promise<string | null> {
  if (workflowBundle !== undefined)
    return 'code' in workflowBundle ? workflowBundle.code : readFile(workflowBundle.codePath, 'utf8')
  const bundle = bundlerOptions === undefined ? undefined : bundles.get(bundlerOptions)
  const code = bundle?.code ?? null
  // It has megabytes.
  if (bundle !== undefined) bundle.code = null
  return code
}

const TIMEOUT_MS = 5000

/** Evaluates the modules as the SDK does, but runs no workflow. */
function functionsIn(code: string): string[] {
  const globals = { AbortController, TextDecoder, TextEncoder, URL, URLSearchParams, console: SILENT }
  const context = vm.createContext({ ...globals, __webpack_module_cache__: {} }, { microtaskMode: 'afterEvaluate' })
  vm.runInContext(code, context, { timeout: TIMEOUT_MS })
  const names: unknown = vm.runInContext(NAMES, context, { timeout: TIMEOUT_MS })
  return String(names).split('\n')
}

const NAMES = `Object.entries(__TEMPORAL__.importWorkflows())
  .flatMap(([name, value]) => typeof value === 'function' ? [name] : []).join('\\n')`

const nothing = () => {}
const SILENT = { debug: nothing, error: nothing, info: nothing, log: nothing, warn: nothing }
