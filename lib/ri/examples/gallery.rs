//! Prints a receipt of every type on every paper, as PDF and as PNG: `cargo run -p ecf-ri --example gallery -- DIR`.
//!
//! The images in `docs/images` come from this program.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use ecf::{Environment, ReceiptType, StampHosts};
use ecf_ri::{Color, Design, Format, Mode, Options, render};
use hayro::hayro_interpret::InterpreterSettings;
use hayro::hayro_syntax::Pdf;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings};

#[path = "../tests/ri/receipts.rs"]
#[expect(clippy::unwrap_used, reason = "the receipts are made here")]
mod receipts;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from("."), PathBuf::from);
    fs::create_dir_all(&directory)?;
    let design = Design {
        logo: None,
        color: Color::new(0x1f, 0x3a, 0x5f),
        footer: Some("Gracias por preferirnos".to_owned()),
    };
    let mut signed: Vec<(String, Vec<u8>)> = ReceiptType::ALL
        .into_iter()
        .map(|receipt_type| (receipt_type.to_string(), receipts::receipt(receipt_type)))
        .collect();
    signed.push(("31-beer".to_owned(), receipts::beer()));
    signed.push(("31-wide".to_owned(), receipts::wide()));
    signed.push(("31-120-lines".to_owned(), receipts::long(120)));
    for (name, signed) in signed {
        for format in Format::ALL {
            let options = Options {
                environment: Environment::TesteCF,
                hosts: &StampHosts::default(),
                format,
                mode: Mode::Normal,
                design: &design,
            };
            let pdf = render(&signed, &options)?;
            let path = directory.join(format!("{name}-{format}.pdf"));
            fs::write(&path, &pdf)?;
            paint(pdf, &path)?;
        }
    }
    Ok(())
}

/// Renders every page as an image beside the PDF.
fn paint(pdf: Vec<u8>, path: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let pdf = Pdf::new(pdf).map_err(|error| format!("{error:?}"))?;
    let settings = PixmapSettings {
        x_scale: 1.5,
        y_scale: 1.5,
        bg_color: WHITE,
    };
    for (index, page) in pdf.pages().iter().enumerate() {
        let pixmap = hayro::render(
            page,
            &RenderCache::new(),
            &InterpreterSettings::default(),
            &RenderSettings::default(),
            &settings,
        );
        let image = pixmap.into_png()?;
        fs::write(path.with_extension(format!("{}.png", index + 1)), image)?;
    }
    Ok(())
}
