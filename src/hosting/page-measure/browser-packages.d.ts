/** The types that runner.ts uses of the packages in `browser/`. These are not installed when types are checked. */

declare module 'puppeteer-core' {
  export interface Page {
    on(event: 'dialog', handle: (dialog: { dismiss(): Promise<void> }) => void): void
    on(event: 'popup', handle: (window: Page | null) => void): void
    on(event: 'error', handle: (error: Error) => void): void
    on(event: 'pageerror', handle: (error: Error) => void): void
    on(event: 'console', handle: (message: { type(): string; text(): string }) => void): void
    evaluateOnNewDocument<Given>(run: (given: Given) => void, given: Given): Promise<unknown>
    evaluate<Result>(run: () => Result): Promise<Result>
    evaluate<Given, Result>(run: (given: Given) => Result, given: Given): Promise<Result>
    waitForNetworkIdle(options: { idleTime: number; timeout: 0; signal: AbortSignal }): Promise<void>
    setViewport(size: { width: number; height: number; deviceScaleFactor: number }): Promise<void>
    emulateMediaFeatures(features: { name: string; value: string }[]): Promise<void>
    goto(url: string, options: { waitUntil: 'networkidle2'; timeout: 0; signal: AbortSignal }): Promise<unknown>
    screenshot(options: { type: 'png' | 'jpeg'; quality?: number; captureBeyondViewport: boolean }): Promise<Uint8Array>
    setJavaScriptEnabled(isEnabled: boolean): Promise<void>
    setContent(html: string, options: { waitUntil: 'load' }): Promise<void>
    pdf(options: { preferCSSPageSize: boolean; printBackground: boolean; tagged: boolean }): Promise<Uint8Array>
    close(): Promise<void>
  }

  export interface BrowserContext {
    newPage(): Promise<Page>
    close(): Promise<void>
  }

  export interface Browser extends BrowserContext {
    readonly connected: boolean
    createBrowserContext(options: { downloadBehavior: { policy: 'deny' } }): Promise<BrowserContext>
  }

  const puppeteer: {
    launch(options: {
      executablePath: string
      pipe: boolean
      headless: boolean
      userDataDir: string
      args: string[]
      protocolTimeout: number
    }): Promise<Browser>
  }
  export default puppeteer
}

declare module 'lighthouse' {
  import type { Page } from 'puppeteer-core'

  interface Result {
    audits: Record<string, unknown>
    categories: Record<string, { title: string; score: number | null }>
    finalDisplayedUrl: string
    lighthouseVersion: string
    fetchTime: string
    runtimeError?: unknown
  }

  export const desktopConfig: object
  export default function lighthouse(
    url: string,
    flags: { output: 'json'; logLevel: 'silent'; disableFullPageScreenshot: boolean; maxWaitForLoad: number },
    config: object | undefined,
    page: Page,
  ): Promise<{ lhr: Result } | undefined>
}

declare module 'jpeg-js' {
  interface Picture {
    width: number
    height: number
    data: Uint8Array
  }

  const jpeg: {
    decode(bytes: Uint8Array, options: { useTArray: true; maxMemoryUsageInMB: number }): Picture
    encode(picture: Picture, quality: number): Picture
  }
  export default jpeg
}
