import { Animation } from '../../demo/animation.ts';
import { launchBrowser } from '../../demo/browser.ts';
import { inBrowser } from '../support/browser.ts';

inBrowser('an animation has each picture that differs from the one before it, and browsers can show it', async () => {
  const browser = await launchBrowser();
  try {
    const size = { width: 301, height: 200 };
    const page = await browser.newPage({ viewport: size });
    const animation = await Animation.open(await browser.newPage(), size);
    const show = (text: string) => page.setContent(`<p style="margin: 51px; width: 101px">${text}</p>`);
    await show('One');
    await animation.add(page, 100);
    await animation.add(page, 250);
    await show('Two');
    await animation.add(page, 400);
    expect(animation.seconds).toBe(0.75);
    const file = animation.file();
    expect(file.readUInt32LE(4)).toBe(file.length - 8);
    const frames = [...file.toString('latin1').matchAll(/ANMF/g)].map(({ index }) => ({
      at: [file.readUIntLE(index + 8, 3) * 2, file.readUIntLE(index + 11, 3) * 2],
      width: file.readUIntLE(index + 14, 3) + 1,
      ms: file.readUIntLE(index + 20, 3),
    }));
    expect(frames.map(({ ms }) => ms)).toEqual([350, 400]);
    expect(frames[0]).toMatchObject({ at: [0, 0], width: 301 });
    expect(frames[1]?.at[0]).toBeGreaterThan(50);
    expect(frames[1]?.width).toBeLessThan(100);
    await page.setContent(`<img src="data:image/webp;base64,${file.toString('base64')}">`);
    const image = 'document.querySelector("img")';
    expect(await page.evaluate(`${image}.decode().then(() => ${image}.naturalWidth)`)).toBe(301);
  } finally {
    await browser.close();
  }
});
