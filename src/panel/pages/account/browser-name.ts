import { accountTexts as texts } from '../../texts/account.ts'

const { names } = texts

const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg(?:e|A|iOS)?\//, names.edge],
  [/OPR\//, names.opera],
  [/SamsungBrowser\//, names.samsung],
  [/Firefox\/|FxiOS\//, names.firefox],
  [/Chrom(?:e|ium)\/|CriOS\//, names.chrome],
  [/Safari\//, names.safari],
]

const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPod/, names.iphone],
  [/iPad/, names.ipad],
  [/Android/, names.android],
  [/Windows/, names.windows],
  [/Mac OS X|Macintosh/, names.mac],
  [/CrOS/, names.chromeos],
  [/Linux|X11/, names.linux],
]

const first = (of: typeof browsers, agent: string): string | undefined => of.find(([sign]) => sign.test(agent))?.[1]

/** Returns the names of the browser and the device of a User-Agent, or the header itself if it names neither. */
export function browserName(agent: string): string {
  const [browser, system] = [first(browsers, agent), first(systems, agent)]
  return browser && system ? texts.browserOn(browser, system) : (browser ?? system ?? agent)
}
